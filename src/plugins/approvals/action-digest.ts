import { canonicalJson } from '../../core/json/canonical-json.ts'
import type { ApprovalAction } from '../../model/approval.ts'
import { sha256 } from '../../model/sha256.ts'

/**
 * Resolves to the SHA-256 of the canonical JSON (RFC 8785) of `{ name, args }`, in hex: what an approval is bound to. Equal for equal actions,
 * whatever the order of their members.
 *
 * @example
 * ```ts
 * const digest = await actionDigest({ name: 'refund', args: { orderId: 'A-1', amount: 900 } })
 * ```
 */
export function actionDigest({ name, args }: ApprovalAction): Promise<string> {
  return sha256(canonicalJson({ name, args }))
}

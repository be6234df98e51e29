import type { Action } from '../core/endpoints.ts'

/** A change that a user of the console made. It is not redacted. */
export interface ConsoleChange {
  /** Such as `cancel_dispatch`, `retry_dispatch`, `add_suppression`, `remove_suppressions` or `answer_approval`. */
  readonly action: string
  /** As `access` gave it; empty without one. */
  readonly user: string
  readonly tenant: string
  /** Number of deliveries, suppressions or approvals that changed, at least 1. */
  readonly count: number
  /** With `cancel_dispatch` and `retry_dispatch`. */
  readonly dispatchId?: string
  /** With `answer_approval`. */
  readonly approvalId?: string
  readonly sessionId?: string
  readonly answer?: string
  /** With suppressions, as the user gave them. */
  readonly channel?: string
  readonly reason?: string
  readonly category?: string
  /** With suppressions. Personal data: nothing else names what was changed, because the store keeps only a hash. */
  readonly address?: string
  /** With suppressions that the user named by the hash in the list: that hash. */
  readonly addressKey?: string
}

/** Members of bodies that say what was changed. */
const NAMED: readonly string[] = [
  'channel',
  'reason',
  'category',
  'address',
  'addressKey',
  'sessionId',
  'answer',
] satisfies (keyof ConsoleChange)[]

/** The change of a successful request; `undefined`: it changed nothing. */
export function changeOf(
  { name, changed }: Action,
  by: Pick<ConsoleChange, 'user' | 'tenant'>,
  asked: { readonly parameters?: Readonly<Record<string, string>>; readonly body: unknown },
  answer: unknown,
): ConsoleChange | undefined {
  const count = changed?.(answer as never) ?? 0
  if (count === 0) return undefined
  const given = Object.entries(Object(asked.body)).filter(
    ([name, value]) => NAMED.includes(name) && typeof value === 'string',
  )
  return { action: name, user: by.user, tenant: by.tenant, count, ...asked.parameters, ...Object.fromEntries(given) }
}

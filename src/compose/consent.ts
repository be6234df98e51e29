import type { OpenAction } from '../core/endpoints.ts'
import type { FeedbackDeps } from '../core/feedback/feedback-deps.ts'
import { feedbackAction } from '../core/feedback/handle-feedback.ts'
import { refusalLog } from '../core/feedback/refusal-log.ts'
import { type LinkService, linkService } from '../core/links/link-service.ts'
import { type Unsubscription, unsubscribeAction } from '../core/links/unsubscribe.ts'
import { type AddressKeys, addressKeys } from '../core/suppression/address-keys.ts'
import { newSuppression } from '../core/suppression/new-suppression.ts'
import { type PreferenceReader, preferenceReader } from '../core/suppression/preference-reader.ts'
import { type SuppressionCheck, suppressionCheck } from '../core/suppression/suppression-check.ts'
import type { FeedbackStore } from '../ports/feedback-store.ts'
import type { PreferenceStore } from '../ports/preference-store.ts'
import type { SallyportOptions } from './options.ts'
import { readyHashKeys } from './ready-hash-keys.ts'

const DAY_MS = 86_400_000

type ConsentOptions = Pick<SallyportOptions<unknown>, 'feedback' | 'suppressions' | 'links'>
type OpenDeps = Omit<FeedbackDeps, 'addressKeys' | 'softBounceMs' | 'onRefused'>

/** Feedback, suppressions and links of a host. */
export interface Consent {
  /** For planning and sending. Without keys of addresses, nothing is suppressed. */
  readonly ports: {
    readonly suppressions?: SuppressionCheck
    readonly preferences?: PreferenceReader
    readonly links?: LinkService
  }
  readonly addressKeys: AddressKeys | undefined
  /** Endpoints of feedback and links. Without them, the host keeps their paths. */
  open(deps: OpenDeps): readonly OpenAction[]
}

export function consentOf(
  { feedback = {}, suppressions, links }: ConsentOptions,
  store: FeedbackStore & PreferenceStore,
): Consent {
  const given = suppressions?.keys ?? links?.keys
  const keys = given && addressKeys(readyHashKeys(given))
  const linkKeys = links && readyHashKeys(links.keys)
  const service =
    keys && linkKeys && linkService({ baseUrl: links.baseUrl, keys: linkKeys, addressKeyOf: keys.current })
  const { softBounceMs = DAY_MS } = suppressions ?? {}
  const sources = new Map(Object.entries(feedback))

  async function unsubscribe({ tenant, channel, addressKey, category }: Unsubscription): Promise<void> {
    const facts = { tenant, channel, addressKey, reason: 'unsubscribed', source: 'link' } as const
    await store.addSuppressions([await newSuppression({ ...facts, ...(category !== undefined && { category }) })])
  }

  return {
    ports: {
      ...(keys && { suppressions: suppressionCheck(store, keys), preferences: preferenceReader(store, keys) }),
      ...(service && { links: service }),
    },
    addressKeys: keys,
    open(deps) {
      const page = links?.page && { page: links.page }
      const receiving = keys && {
        ...deps,
        addressKeys: keys,
        softBounceMs,
        onRefused: refusalLog(deps.logger, deps.clock),
      }
      return [
        ...(sources.size > 0 && receiving ? [feedbackAction(sources, receiving)] : []),
        ...(linkKeys ? [unsubscribeAction({ ...deps, keys: linkKeys, unsubscribe, ...page })] : []),
      ]
    },
  }
}

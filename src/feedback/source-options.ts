import { isVisibleAscii } from '../model/principal.ts'
import { arrayOf, like, matching, whole } from '../options/checks.ts'
import { type Check, type Checks, faultOf, required } from '../options/read-options.ts'

/** Options of every feedback source. */
export interface FeedbackSourceOptions {
  /** Name of the channel whose deliveries the events are about, as in `channels` of `createSallyport`. */
  readonly channel: string
  /** Events match only deliveries of this tenant: 1 to 200 visible ASCII characters. Default: `default`. */
  readonly tenant?: string
}

export const DEFAULT_TENANT = 'default'

export const SOURCE_CHECKS: Checks<FeedbackSourceOptions> = {
  channel: required(like(/^[A-Za-z0-9._-]{1,64}$/, 'must be a channel name: 1-64 of A-Z a-z 0-9 . _ -')),
  tenant: matching(isVisibleAscii, 'must be 1 to 200 visible ASCII characters'),
}

/** Bytes of a body that is read before its proof is known. */
export const MAX_BODY = 262_144

const DAY_SECONDS = 86_400

/** Age at which a signed timestamp is refused. */
export const tolerance: Check = whole(1, 7 * DAY_SECONDS)

/** One value, or a list of at least one: all are valid, for rotation. */
export function oneOrMore(item: Check): Check {
  const list = arrayOf(item, 'must be a value or a list of at least one', 1)
  return (value, given) => (Array.isArray(value) ? list(value, given) : faultOf(value, item))
}

export function listOf<Item>(given: Item | readonly Item[]): readonly Item[] {
  return Array.isArray(given) ? given : [given as Item]
}

import type { ConfigProblem } from '../../errors.ts'
import { fn, has, whole } from '../../options/checks.ts'
import { type HashKey, hashKeys } from '../../options/hash-keys.ts'
import {
  type Check,
  type Checks,
  choices,
  faultOf,
  type GivenOptions,
  isRecord,
  problemsAt,
  required,
} from '../../options/read-options.ts'
import { kindOf, shownName } from '../../options/shown-value.ts'
import type { FeedbackSource } from '../../ports/feedback-source.ts'
import { type UnsubscribePageOptions, unsubscribePageOptions } from './unsubscribe/unsubscribe-page-options.ts'

/** Options of `consent`. */
export interface ConsentOptions {
  /**
   * Keys of the hashes under which addresses and recipients are stored. The first one hashes new addresses; retained keys still find old ones,
   * so keep a replaced key in the list.
   */
  readonly keys: readonly HashKey[]
  /**
   * Milliseconds that a soft bounce suppresses its address on that channel, for events that are not critical. 0: not at all. Up to
   * 2,678,400,000 (31 days). Default: 24 hours.
   */
  readonly softBounceMs?: number | undefined
  /**
   * Feedback of providers, by the name in the path `POST /api/outbound/feedback/{name}`: 1-64 of `A-Z a-z 0-9 . _ -`. Default: none.
   */
  readonly feedback?: Readonly<Record<string, FeedbackSource>> | undefined
  /** Texts and style of the unsubscribe page, which needs the option `links`. Default: a plain page in the reader's language. */
  readonly page?: UnsubscribePageOptions | undefined
}

const NAME = /^[A-Za-z0-9._-]{1,64}$/

const isSource = has('a source such as ses(…), or an object { channel, receive(request) }', 'receive')
/** Longest body of a feedback route. */
const maxBytes = whole(1, 1_048_576)

const feedbackSource: Check = (source, given) => {
  const fault = isSource(source, given)
  if (fault !== undefined) return fault
  const members: GivenOptions = Object(source)
  return [
    ...(members.maxBytes === undefined ? [] : problemsAt('maxBytes', faultOf(members.maxBytes, maxBytes))),
    ...(members.head === undefined ? [] : problemsAt('head', faultOf(members.head, fn))),
  ]
}

/** Sources by their names, which are parts of a path. */
const feedbackSources: Check = (value) => {
  if (!isRecord(value)) return `is ${kindOf(value)}; must be an object of sources by name: { ses: ses(…) }`
  return Object.entries(value).flatMap(([name, source]) => [
    ...(NAME.test(name) ? [] : [{ field: name, detail: 'must be a name: 1-64 of A-Z a-z 0-9 . _ -' }]),
    ...problemsAt(name, faultOf(source, feedbackSource)),
  ])
}

export const CONSENT: Checks<ConsentOptions> = {
  keys: required(hashKeys),
  softBounceMs: whole(0, 31 * 86_400_000),
  feedback: feedbackSources,
  page: unsubscribePageOptions,
}

/** Finds sources of channels that the host does not have, and a page without links. */
export function consentProblems(
  { feedback = {}, page }: ConsentOptions,
  channels: readonly string[],
  hasLinks: boolean,
): readonly ConfigProblem[] {
  const unknown = Object.entries(feedback).flatMap(([name, { channel }]): ConfigProblem[] => {
    if (channels.includes(channel)) return []
    const detail = `is of the channel ${shownName(channel)}, which is not there${choices(String(channel), channels, 'channels')}`
    return [{ field: `feedback.${name}`, detail }]
  })
  const isIdle = page !== undefined && !hasLinks
  return isIdle ? [...unknown, { field: 'page', detail: 'needs the option links: { baseUrl, keys }' }] : unknown
}

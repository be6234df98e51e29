import type { ConfigProblem } from '../errors.ts'
import { fn, has, whole } from '../options/checks.ts'
import { type Check, choices, faultOf, type GivenOptions, isRecord, problemsAt } from '../options/read-options.ts'
import { kindOf, shownName } from '../options/shown-value.ts'

const NAME = /^[A-Za-z0-9._-]{1,64}$/

/** Sources by their names, which are parts of a path. */
export const feedbackSources: Check = (value) => {
  if (!isRecord(value)) return `is ${kindOf(value)}; must be an object of sources by name: { ses: ses(…) }`
  return Object.entries(value).flatMap(([name, source]) => [
    ...(NAME.test(name) ? [] : [{ field: name, detail: 'must be a name: 1-64 of A-Z a-z 0-9 . _ -' }]),
    ...problemsAt(name, faultOf(source, feedbackSource)),
  ])
}

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

/** Finds sources of channels that do not exist, and options that need keys of addresses without any. */
export function consentProblems(
  given: GivenOptions,
  channels: readonly string[] | undefined,
): readonly ConfigProblem[] {
  const { feedback, suppressions, links, policy } = given
  const sources = isRecord(feedback) ? Object.entries(feedback) : []
  const unknown = sources.flatMap(([name, source]): ConfigProblem[] => {
    const channel: unknown = Reflect.get(Object(source), 'channel')
    if (!channels || channels.includes(String(channel))) return []
    const detail = `is of the channel ${shownName(channel)}, which is not there${choices(String(channel), channels, 'channels')}`
    return [{ field: `feedback.${name}`, detail }]
  })
  if (suppressions !== undefined || links !== undefined) return unknown
  const readsPreferences = Reflect.get(Object(policy), 'readsPreferences') === true
  const needy = [...(sources.length > 0 ? ['feedback'] : []), ...(readsPreferences ? ['policy'] : [])]
  const detail = 'needs suppressions: { keys } or links: { keys }, under which addresses are stored'
  return [...unknown, ...needy.map((field) => ({ field, detail }))]
}

import type { ConfigProblem } from '../errors.ts'
import { has } from '../options/checks.ts'
import { type Check, faultOf, type GivenOptions, isRecord, near, problemsAt } from '../options/read-options.ts'

const NAME = /^[A-Za-z0-9._-]{1,64}$/

/** Sources by their names, which are parts of a path. */
export const feedbackSources: Check = (value) => {
  if (!isRecord(value)) return 'must be an object'
  return Object.entries(value).flatMap(([name, source]) => [
    ...(NAME.test(name) ? [] : [{ field: name, detail: 'must be a name: 1-64 of A-Z a-z 0-9 . _ -' }]),
    ...problemsAt(name, faultOf(source, has('receive'))),
  ])
}

/** Finds sources of channels that do not exist, and options that need keys of addresses without any. */
export function consentProblems(
  given: GivenOptions,
  channels: readonly string[] | undefined,
): readonly ConfigProblem[] {
  const { feedback, suppressions, links, policy } = given
  const sources = isRecord(feedback) ? Object.entries(feedback) : []
  const unknown = sources.flatMap(([name, source]): ConfigProblem[] => {
    const channel = String(Reflect.get(Object(source), 'channel'))
    if (!channels || channels.includes(channel)) return []
    const detail = `is of the channel "${channel}", which is not there${near(channel, channels)}`
    return [{ field: `feedback.${name}`, detail }]
  })
  if (suppressions !== undefined || links !== undefined) return unknown
  const readsPreferences = Reflect.get(Object(policy), 'readsPreferences') === true
  const needy = [...(sources.length > 0 ? ['feedback'] : []), ...(readsPreferences ? ['policy'] : [])]
  const detail = 'needs suppressions: { keys } or links: { keys }, under which addresses are stored'
  return [...unknown, ...needy.map((field) => ({ field, detail }))]
}

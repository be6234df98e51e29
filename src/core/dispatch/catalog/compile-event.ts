import { bool, matching, oneOf, whole } from '../../../options/checks.ts'
import { type Check, type Checks, isRecord, near, problemsIn, required } from '../../../options/read-options.ts'
import type { CatalogEvent } from '../../../ports/event-catalog.ts'
import { checkData } from './check-data.ts'
import type { Compilation } from './compilation.ts'
import { compileChannel } from './compile-channel.ts'
import { compileCondition } from './compile-condition.ts'
import { compileDigest } from './compile-digest.ts'
import type { EventDefinition } from './event-definition.ts'
import type { StandardSchema } from './standard-schema.ts'

type Definition = EventDefinition<StandardSchema>

const EVENT_TYPE = /^[A-Za-z0-9._-]{1,256}$/

/** Found out as it is compiled. */
const compiled: Check = () => undefined

const CHECKS: Checks<Definition> = {
  data: matching(isSchema, 'is not a Standard Schema (valibot, zod, arktype, …)'),
  when: compiled,
  route: oneOf(['all', 'first']),
  critical: bool,
  delayMs: whole(0, 366 * 24 * 3_600_000),
  digest: compiled,
  channels: required(matching(isRecord, 'must be an object of channel definitions')),
  overrides: compiled,
}

/** Compiles one kind of event. Its problems are added to those of the compilation. */
export function compileEvent(eventType: string, given: Definition, compilation: Compilation): CatalogEvent {
  const place = { event: eventType }
  const report = (detail: string | undefined, field?: string): void => {
    if (detail !== undefined) compilation.problems.push({ ...place, ...(field !== undefined && { field }), detail })
  }
  if (!EVENT_TYPE.test(eventType)) report('an event key is 1-256 of A-Z a-z 0-9 . _ -')
  if (!isRecord(given)) report('is not an event definition: { data?, when?, …, channels }')
  const definition: Definition = isRecord(given) ? given : { channels: {} }
  for (const { detail, field } of problemsIn(definition, CHECKS)) report(detail, field)

  const { data, route = 'all', critical = false, delayMs = 0 } = definition
  const when = compileCondition(definition.when, { ...place, field: 'when' }, compilation)
  const digest = compileDigest(definition.digest, eventType, compilation)
  if (digest && route === 'first') {
    report(`a digest needs route "all": the fallback's digest could not be told from the first's`, 'digest')
  }
  if (digest && typeof delayMs === 'number' && delayMs > 0)
    report('a digest has a window: it takes no delay', 'delayMs')

  const channels = Object.entries(isRecord(definition.channels) ? definition.channels : {})
  if (isRecord(definition.channels) && channels.length === 0) report('an event needs at least one channel')
  const outputs = channels.map(([name, channel]) => compileChannel(eventType, name, channel, compilation))
  const names = channels.map(([name]) => name)
  const overrides = compileOverrides(definition.overrides, names, (detail) => report(detail, 'overrides'))
  return {
    eventType,
    route,
    critical,
    delayMs,
    ...(digest && { digest }),
    overrides,
    channels: outputs,
    ...(when && { when }),
    checkData: (eventData) => checkData(data, eventData),
  }
}

function compileOverrides(
  given: readonly string[] | undefined,
  names: readonly string[],
  report: (detail: string) => void,
): readonly string[] {
  if (given === undefined) return names
  if (!Array.isArray(given) || given.length === 0) {
    report('is a list of one or more of the channels')
    return names
  }
  for (const [index, name] of given.entries()) {
    if (!names.includes(name)) report(`"${String(name)}" is not a channel of the event${near(String(name), names)}`)
    else if (given.indexOf(name) < index) report(`"${name}" is there twice`)
  }
  return [...given]
}

function isSchema(value: unknown): boolean {
  const { '~standard': standard } = Object(value)
  return typeof standard?.validate === 'function'
}

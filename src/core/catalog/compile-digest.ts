import type { CatalogDigest, EventFacts } from '../../ports/event-catalog.ts'
import { isRecord, numberFault } from '../definition-checks.ts'
import { isStorable } from '../storable.ts'
import { ignoreRejection } from '../to-json.ts'
import type { Compilation } from './compilation.ts'
import type { DigestDefinition } from './event-definition.ts'

const DIGEST_KEYS: readonly string[] = ['windowMs', 'max', 'key'] satisfies (keyof DigestDefinition<unknown>)[]
const WINDOW_MS = [1, 31 * 24 * 3_600_000] as const
const MAX_EVENTS = [1, 1000] as const
/** UTF-16 units. */
const MAX_KEY = 512

/** Compiles how the events of one kind are gathered, if they are. */
export function compileDigest(
  definition: DigestDefinition<unknown> | undefined,
  event: string,
  { problems }: Compilation,
): CatalogDigest | undefined {
  if (definition === undefined) return undefined
  const report = (field: string, detail: string | undefined): void => {
    if (detail !== undefined) problems.push({ event, field, detail })
  }
  if (!isRecord(definition)) {
    report('digest', 'is not a digest: { windowMs, max?, key? }')
    return undefined
  }
  for (const key of Object.keys(definition)) {
    if (!DIGEST_KEYS.includes(key)) report(`digest.${key}`, `is not one of ${DIGEST_KEYS.join(', ')}`)
  }
  const { windowMs, max = 100, key } = definition
  report('digest.windowMs', numberFault(windowMs, WINDOW_MS))
  report('digest.max', numberFault(max, MAX_EVENTS))
  if (key !== undefined && typeof key !== 'function') report('digest.key', 'is not a function')
  return { windowMs, max, key: key ? (facts) => call(key, facts) : () => '' }
}

function call(key: (facts: EventFacts) => unknown, facts: EventFacts): string | undefined {
  try {
    const given = key(facts)
    ignoreRejection(given)
    return typeof given === 'string' && given.length <= MAX_KEY && isStorable(given) ? given : undefined
  } catch {
    return undefined
  }
}

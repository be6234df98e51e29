import { isStorable } from '../../../model/json.ts'
import { ignoreRejection } from '../../../model/thrown.ts'
import { fn, whole } from '../../../options/checks.ts'
import { type Checks, isRecord, nested, problemsAt, required } from '../../../options/read-options.ts'
import type { CatalogDigest, DigestKey, EventFacts } from '../../../ports/event-catalog.ts'
import type { Compilation } from './compilation.ts'
import type { DigestDefinition } from './event-definition.ts'

const CHECKS: Checks<DigestDefinition<unknown>> = {
  windowMs: required(whole(1, 31 * 24 * 3_600_000)),
  max: whole(1, 1_000),
  key: fn,
}
/** UTF-16 units. */
const MAX_KEY = 512

/** Compiles how the events of one kind are gathered, if they are. */
export function compileDigest(
  definition: DigestDefinition<unknown> | undefined,
  event: string,
  { problems }: Compilation,
): CatalogDigest | undefined {
  if (definition === undefined) return undefined
  const fault = nested(CHECKS)(definition, {})
  problems.push(...problemsAt('digest', fault).map((problem) => ({ event, ...problem })))
  if (!isRecord(definition)) return undefined
  const { windowMs, max = 100, key } = definition
  return { windowMs, max, key: key ? (facts) => call(key, facts) : () => ONE_KEY }
}

/** Everything goes together. */
const ONE_KEY: DigestKey = { outcome: 'key', key: '' }

function call(key: (facts: EventFacts) => unknown, facts: EventFacts): DigestKey {
  try {
    const given = key(facts)
    ignoreRejection(given)
    if (typeof given === 'string' && given.length <= MAX_KEY && isStorable(given)) return { outcome: 'key', key: given }
    return { outcome: 'error', detail: 'digest.key gave no key' }
  } catch (cause) {
    return { outcome: 'error', detail: 'digest.key threw', cause }
  }
}

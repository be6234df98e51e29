import { compoundKey } from '../../../model/compound-key.ts'
import type { Acceptance } from '../../../ports/dispatch-store.ts'
import { type Counter, type SendLimits, sendLimits } from '../../rules/delivery-transitions.ts'
import { boundedMap } from '../bounded-map.ts'
import { type Changes, firstVersion } from '../changes.ts'
import { decoded } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import { storableText } from '../stored-texts.ts'

export interface TenantName {
  readonly tenant: string
  readonly name: string
}

const LIMIT = 'limit '

export function limitName(key: string): string {
  return `${LIMIT}${storableText(key)}`
}

/** Name of the turn in which events open or join a digest. @param openKey Start of the digest's key. */
export function turnName(openKey: string): string {
  return `digest ${openKey}`
}

/** Minimum time that the counter of a turn is kept. */
const TURN_MS = 60_000

interface KnownCounter {
  readonly name: string
  readonly counter: Counter
  /** 0: it is new. */
  readonly version: number
  readonly isChanged: boolean
}

export class KnownCounters {
  readonly limits: SendLimits
  readonly #now: number
  readonly #counters = new Map<string, KnownCounter>()

  constructor(now: number) {
    this.#now = now
    this.limits = sendLimits({
      find: (tenant, key) => {
        const found = this.#counters.get(compoundKey(tenant, limitName(key)))?.counter
        return found && endOf(found) > now ? found : undefined
      },
      keep: (counter) => this.#change(limitName(counter.name), counter),
    })
  }

  put({ tenant, name, times, max, window_ms: windowMs, version }: RecordOf<'counters'>): void {
    const key = name.startsWith(LIMIT) ? name.slice(LIMIT.length) : name
    // Without its times it counts from now on.
    const counter = { tenant, name: key, times: [...(decoded(times) ?? [])], max, windowMs }
    this.#counters.set(compoundKey(tenant, name), { name, counter, version, isChanged: false })
  }

  /** Makes concurrent writers of the same name conflict. */
  takeTurn({ tenant, name }: TenantName): void {
    this.#change(name, { tenant, name, times: [this.#now], max: 1, windowMs: TURN_MS })
  }

  save(changes: Changes): void {
    for (const { name, counter, version, isChanged } of this.#counters.values()) {
      if (!isChanged) continue
      changes[version === 0 ? 'insert' : 'update']('counters', {
        tenant: counter.tenant,
        name,
        times: counter.times,
        max: counter.max,
        window_ms: Math.ceil(counter.windowMs),
        expires_at: Math.ceil(endOf(counter)),
        version: version || firstVersion(),
      })
    }
  }

  #change(name: string, counter: Counter): void {
    const key = compoundKey(counter.tenant, name)
    this.#counters.set(key, { name, counter, version: this.#counters.get(key)?.version ?? 0, isChanged: true })
  }
}

function endOf({ times, windowMs }: Counter): number {
  return (times.at(-1) ?? 0) + windowMs
}

export interface SpentQuotas {
  has(acceptance: Acceptance, now: number): boolean
  add(acceptance: Acceptance, now: number): void
}

const MAX_QUOTAS = 10_000
/** Longest delay until a quota is known to be free again. */
const SPENT_MS = 1_000

/** For the host's transaction, which may be rolled back with everything that it counted. */
export const NO_SPENT_QUOTAS: SpentQuotas = { has: () => false, add() {} }

/** Caches spent quotas, so that a burst does not query the database for each event. */
export function spentQuotas(): SpentQuotas {
  const kept = boundedMap<number>(MAX_QUOTAS)
  const keyOf = ({ dispatch: { tenant }, quotas }: Acceptance): string | undefined =>
    quotas && compoundKey(tenant, ...quotas.map(({ key, max, windowMs }) => `${max} ${windowMs} ${key}`))
  return {
    has(acceptance, now) {
      const key = keyOf(acceptance)
      const until = key === undefined ? undefined : kept.get(key)
      return until !== undefined && now < until
    },
    add(acceptance, now) {
      const key = keyOf(acceptance)
      const windows = acceptance.quotas?.map(({ windowMs }) => windowMs) ?? []
      if (key !== undefined) kept.put(key, now + Math.min(SPENT_MS, ...windows))
    },
  }
}

import { timedMap } from '../../core/tokens/timed-map.ts'
import type { TokenOperation, TokenUse } from '../../model/token-use.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { PluginCore, RequestEnd } from '../plugin.ts'
import { type Noted, notedUses } from './noted-uses.ts'
import { refusedTokens } from './refused-tokens.ts'
import type { TokenUseRecords } from './token-use-records.ts'

/** Log of the uses of session tokens. No request waits for it. */
export interface UseLog {
  /** Notes the use of a token by a request. Ignores applications. */
  add(end: RequestEnd): void
  /** Stores all noted uses. Never rejects: a failure is logged, and the uses are kept for the next time. */
  flush(): Promise<void>
  /** True if a flush has uses to store. */
  hasNoted(): boolean
}

export interface UseLogDeps extends Pick<PluginCore, 'report' | 'logger'> {
  readonly records: Pick<TokenUseRecords, 'record' | 'remove'>
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly ids: IdGenerator
}

const EVERY_MS = 1_000

/** Equal refusals, and equal posts about one run, are stored once in this time. */
const GROUPED_MS = 60_000

/** Uses in memory; more are dropped. */
const MAX_NOTED = 10_000

/** The limit of {@link TokenUseRecords.record}. */
const AT_ONCE = 100

/** Age at which uses are removed: a week. */
const KEPT_MS = 7 * 86_400_000
const PRUNE_EVERY_MS = 60_000
const LEAST_PRUNED = 500

/**
 * Groups equal uses and stores them at most once a second. Accepted uses are equal if token, operation and id are; refused ones if
 * token, operation and code are. Refusals, and posts about one run, are stored once a minute: a flood adds a few rows.
 */
export function tokenUseLog(deps: UseLogDeps): UseLog {
  const { records, clock, ids } = deps
  const noted = notedUses(MAX_NOTED)
  const refusedIds = refusedTokens(GROUPED_MS)
  /** Times when grouped uses were stored. */
  const storedAt = timedMap<number>(MAX_NOTED)
  /** Uses of a write that failed. It may have been stored without an answer, so they are written again unchanged. */
  let unsure: readonly Noted[] = []
  let dropped = 0
  let writing: Promise<void> | undefined
  let stopTimer = (): void => {}
  let timerAt = Number.POSITIVE_INFINITY
  let prunedAt = clock.now()
  let recorded = 0

  function note(use: Noted): void {
    if (!noted.add(use)) dropped += use.times
  }

  /** Writes what is due at this time, or in a second if that is later; sooner if a timer is set for an earlier time. */
  function setTimer(dueAt: number): void {
    const now = clock.now()
    const at = Math.max(now + EVERY_MS, dueAt)
    if (at >= timerAt) return
    stopTimer()
    timerAt = at
    stopTimer = clock.after(at - now, () => {
      timerAt = Number.POSITIVE_INFINITY
      void write(clock.now())
    })
  }

  /** One write at a time, in the order of uses. */
  async function write(until: number): Promise<void> {
    while (writing) await writing
    writing = writeAll(noted.take(until)).finally(() => {
      writing = undefined
      const next = unsure.length > 0 ? clock.now() : noted.nextDueAt()
      if (next !== undefined) setTimer(next)
    })
    await writing
  }

  async function writeAll(due: readonly Noted[]): Promise<void> {
    reportDropped()
    let left = due
    try {
      if (unsure.length > 0) await record(unsure)
      while (left.length > 0) {
        unsure = left.slice(0, AT_ONCE)
        left = left.slice(AT_ONCE)
        await record(unsure)
      }
      await prune()
    } catch (cause) {
      deps.report(cause, { operation: 'store' }, { level: 'error', event: 'token_use.write_failed' })
      const later = noted.take(Number.POSITIVE_INFINITY)
      for (const use of [...left, ...later]) note(use)
    }
  }

  async function record(uses: readonly Noted[]): Promise<void> {
    const now = clock.now()
    await records.record(uses.map(({ key: _, dueAt: __, at, ...use }) => ({ ...use, agoMs: now - at })))
    unsure = []
    recorded += uses.length
    for (const { key, operation, outcome } of uses) {
      if (isGrouped(operation, outcome)) storedAt.put(key, now, now + GROUPED_MS, now)
    }
  }

  /** Removes more than was added since the last time. */
  async function prune(): Promise<void> {
    const now = clock.now()
    if (now - prunedAt < PRUNE_EVERY_MS) return
    const limit = Math.max(LEAST_PRUNED, 2 * recorded)
    ;[prunedAt, recorded] = [now, 0]
    await records.remove({ usedForMs: KEPT_MS, limit })
  }

  function reportDropped(): void {
    if (dropped > 0) deps.logger.log('warn', 'token_use.dropped', { uses: dropped })
    dropped = 0
  }

  return {
    add({ principal, action, refused, id }) {
      const { tenant, sessionId } = principal
      if (sessionId === undefined) return
      const now = clock.now()
      const operation = action.use ?? action.operation
      const outcome = refused === undefined ? 'accepted' : 'refused'
      const jti = refused !== undefined ? refusedIds.idOf(principal, now) : principal.id
      const key = [outcome, tenant, jti, operation, refused ?? id ?? ''].join(' ')
      const at = storedAt.get(key, now)
      // The clock may have been set back.
      const dueAt = at === undefined ? now : Math.min(at, now) + GROUPED_MS
      note({
        ...{ key, dueAt, useId: ids.next('use'), jti, tenant, sessionId, operation, outcome },
        ...(refused !== undefined && { code: refused }),
        ...(id !== undefined && { id }),
        ...{ times: 1, at: now },
      })
      setTimer(dueAt)
    },
    hasNoted: () => unsure.length > 0 || !noted.isEmpty(),
    async flush() {
      stopTimer()
      timerAt = Number.POSITIVE_INFINITY
      await write(Number.POSITIVE_INFINITY)
    },
  }
}

function isGrouped(operation: TokenOperation, outcome: TokenUse['outcome']): boolean {
  return outcome === 'refused' || operation === 'session_run'
}

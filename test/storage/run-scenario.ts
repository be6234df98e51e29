import { isDeepStrictEqual } from 'node:util'
import type { RunState } from '../../src/model/run.ts'
import type { Totals } from '../../src/model/totals.ts'
import type { Page } from '../../src/ports/dispatch-query.ts'
import type {
  MergeDecision,
  MergeSnapshot,
  RunQuery,
  RunStore,
  StoredRun,
  StoredSession,
} from '../../src/ports/run-store.ts'
import { hold } from '../core/delivery/invariants.ts'
import { isSame, takenFrom } from '../core/delivery/snapshot.ts'
import type { FakeClock } from '../support/fake-clock.ts'
import { type ModelRun, type RunModel, runModel, sumOf } from './run-model.ts'
import { type Operation, RUNS, SESSIONS, TENANTS, USERS } from './run-operations.ts'

/** A list that is being read page by page. */
interface Reading {
  readonly query: RunQuery
  cursor: string | undefined
  /** Of the run that came last. */
  order: number
}

type Merge = Extract<Operation, { do: 'merge' }>

const DAY_MS = 24 * 60 * 60 * 1000

/** A store and what it ought to be, side by side. */
export interface RunScenario {
  /** Lets one thing happen to both, and compares them. */
  play(operation: Operation): Promise<void>
  /** Compares all there is. */
  end(): Promise<void>
}

/** @param note Told of all that happens, in a word. */
export function runScenario(store: RunStore, clock: FakeClock, note: (what: string) => void): RunScenario {
  const model = runModel(clock.now)
  const readings: Reading[] = []
  const given: { readonly run: StoredRun; readonly copy: StoredRun }[] = []

  async function merge({ tenant, sessionId, runId, parentRunId, decision, throws }: Merge): Promise<void> {
    const key = { tenant, sessionId, runId, parentRunId }
    const was = model.run(tenant, runId)
    const isElsewhere = was !== undefined && was.state.sessionId !== sessionId
    if (isElsewhere) note('a merge in another session')
    const { state, ...rest } = decision
    const full: RunState | undefined = state && !isElsewhere ? { runId, sessionId, ...state } : undefined
    const decided: MergeDecision<unknown> = { result: decision, ...rest, state: full }
    const decide = (snapshot: MergeSnapshot): MergeDecision<unknown> => {
      checkSnapshot(snapshot, key, model, note)
      if (throws) throw new Error('broken on purpose')
      return decided
    }
    if (throws) {
      const error = await store.mergeRun(key, decide).catch((cause: unknown) => cause)
      hold(
        'what a decision throws is thrown',
        error instanceof Error && error.message === 'broken on purpose',
        () => error,
      )
      return
    }
    const merged = await store.mergeRun(key, decide)
    const expected = model.merge(key, decided)
    same('a merge gives the result', merged.result, decision)
    same('a merge gives the run as it is', merged.run, storedOf(expected))
    hold('a merge tells of no run only by saying nothing', expected !== undefined || !('run' in merged), () => merged)
    if (merged.run) given.push({ run: merged.run, copy: structuredClone(merged.run) })
    note(expected === undefined ? 'nothing merged' : was === undefined ? 'created' : 'merged')
  }

  async function turn(reading: Reading | undefined): Promise<void> {
    if (!reading) return
    const { query, cursor } = reading
    const isNewest = query.first === 'newest'
    const fitting = model.runs.filter((run) => model.fits(run, query))
    const inOrder = isNewest ? fitting.toReversed() : fitting
    const left = inOrder.filter(({ order }) => (isNewest ? order < reading.order : order > reading.order))
    const expected = left.slice(0, query.limit)
    const page: Page<StoredRun> = takenFrom(await store.listRuns({ ...query, ...(cursor !== undefined && { cursor }) }))
    same('a page goes on where the one before ended', page.items, expected.map(storedOf))
    const hasMore = left.length > expected.length
    hold('a page has a next one while more fits', (page.nextCursor !== undefined) === hasMore, () => page)
    if (cursor !== undefined) note(`a later page, ${query.first ?? 'oldest'} first`)
    if (expected.length > 0 && query.pending) note('a page of pending runs')
    reading.cursor = page.nextCursor
    reading.order = expected.at(-1)?.order ?? reading.order
    if (!hasMore) readings.splice(readings.indexOf(reading), 1)
  }

  function list(query: RunQuery): Promise<void> {
    const now = clock.now()
    const at = (name: 'since' | 'until'): object => (query[name] === undefined ? {} : { [name]: now + query[name] })
    const absolute = { ...query, ...at('since'), ...at('until') }
    const order = query.first === 'newest' ? Number.POSITIVE_INFINITY : 0
    readings.push({ query: absolute, cursor: undefined, order })
    return turn(readings.at(-1))
  }

  async function remove({ query }: Extract<Operation, { do: 'remove' }>): Promise<void> {
    const fitting = model.runs.filter((run) => model.isRemovable(run, query))
    const count = await store.removeRuns(query)
    same('a removal removes what fits, up to the limit', count, Math.min(fitting.length, query.limit))
    let gone = 0
    for (const run of fitting) {
      if (await store.findRun(run.tenant, run.state.runId)) continue
      model.remove(run)
      gone += 1
    }
    same('a removal tells how many it removed', gone, count)
    if (count > 0) note(count < fitting.length ? 'removed some' : 'removed all that fit')
  }

  async function act(operation: Operation): Promise<void> {
    switch (operation.do) {
      case 'merge':
        return merge(operation)
      case 'open': {
        const { tenant, sessionId } = operation
        const { totals, ...opened } = await store.openSession(tenant, sessionId)
        const { totals: _, ...found } = (await store.findSession(tenant, sessionId)) ?? {}
        model.open(tenant, sessionId)
        same('a session that is opened is there', opened, found)
        takenFrom(opened)
        return
      }
      case 'wait':
        return clock.advance(operation.ms)
      case 'list':
        return list(operation.query)
      case 'turn':
        return turn(readings[operation.which % readings.length])
      case 'remove':
        return remove(operation)
      case 'erase': {
        const { tenant, of } = operation
        const count = await store.erase(tenant, of)
        const isUser = 'userId' in of
        const expected = isUser ? model.eraseUser(tenant, of.userId) : model.eraseSession(tenant, of.sessionId)
        same('an erasure tells how many runs it removed', count, expected)
        if (count > 0) note(isUser ? 'erased a user' : 'erased a session')
      }
    }
  }

  return {
    async play(operation) {
      await act(operation)
      if (operation.do === 'merge') return
      await checkRuns(store, model)
      if (operation.do === 'erase' || operation.do === 'remove') await checkSums(store, model, clock)
    },

    async end() {
      // What the first gives is spoilt: what the second gives must not be.
      for (let times = 0; times < 2; times++) {
        await checkRuns(store, model)
        await checkSums(store, model, clock)
      }
      for (const { run, copy } of given) same('a run that was given stays what it was', run, copy)
    },
  }
}

function checkSnapshot(
  snapshot: MergeSnapshot,
  key: Parameters<RunModel['ancestors']>[0],
  model: RunModel,
  note: (what: string) => void,
): void {
  const { tenant, sessionId, runId } = key
  same('a merge sees the run', snapshot.run, storedOf(model.run(tenant, runId)))
  checkSession(snapshot.session, tenant, sessionId, model)
  checkDescendants(snapshot.descendants, model.descendantSum(tenant, sessionId, runId))
  const ancestors = model.ancestors(key)
  same(
    'a merge sees what is above, nearest first',
    snapshot.ancestors.map((one) => [one.runId, one.run]),
    ancestors.map((one) => [one.runId, storedOf(one.run)]),
  )
  for (const [at, { descendants }] of ancestors.entries())
    checkDescendants(snapshot.ancestors[at]?.descendants, descendants)
  note(`${ancestors.length} above`)
  if (ancestors.some((one) => one.runId === runId)) note('above itself')
  if (ancestors.length > 0 && snapshot.session === undefined) note('a parent in no session')
}

function checkDescendants(sum: Totals | undefined, adds: readonly Totals[]): void {
  same('there is a sum below a run once something was added', sum !== undefined, adds.length > 0)
  same('what is below a run is the sum of what was added', sumOf(sum ? [sum] : []), sumOf(adds))
}

function checkSession(session: StoredSession | undefined, tenant: string, sessionId: string, model: RunModel): void {
  const { totals, ...found } = session ?? {}
  same('a session is what it should be', found, { ...model.session(tenant, sessionId) })
  same(
    'a tally is the sum of what was added',
    sumOf(totals ? [totals] : []),
    sumOf(model.sessionSum(tenant, sessionId)),
  )
}

async function checkRuns(store: RunStore, model: RunModel): Promise<void> {
  const all = takenFrom(await store.listRuns({ limit: 1_000 }))
  same('a list of everything has everything', all, { items: model.runs.map(storedOf) })
  for (const tenant of TENANTS)
    for (const runId of RUNS) {
      const found = takenFrom(await store.findRun(tenant, runId))
      same('a run is what it should be', found, storedOf(model.run(tenant, runId)))
    }
}

/** What is summed up, and for whom. */
async function checkSums(store: RunStore, model: RunModel, clock: FakeClock): Promise<void> {
  const today = Math.floor(clock.now() / DAY_MS)
  for (const tenant of TENANTS) {
    for (const sessionId of SESSIONS) {
      const session = await store.findSession(tenant, sessionId)
      checkSession(session, tenant, sessionId, model)
      const { totals: _, ...rest } = session ?? {}
      takenFrom(rest)
    }
    for (const userId of USERS)
      for (const day of [today - 1, today]) {
        const spend = takenFrom(await store.findSpend(tenant, userId, day))
        same('a spend is the sum of what was added', sumOf([spend]), sumOf(model.spendSum(tenant, userId, day)))
      }
  }
}

function storedOf(run: ModelRun | undefined): StoredRun | undefined {
  if (!run) return undefined
  const { order: _, ...stored } = run
  return stored
}

function same(what: string, is: unknown, ought: unknown): void {
  hold(what, isSame(is, ought) || isDeepStrictEqual(plain(is), plain(ought)), () => ({ is, ought }))
}

/** As JSON has it: with no order of keys, and no prototypes, to differ by. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

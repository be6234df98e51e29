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
import { type ModelAncestor, type ModelRun, type RunModel, runModel, sumOf } from './run-model.ts'
import { type Operation, RUNS, SESSIONS, TENANTS, USERS } from './run-operations.ts'

/** A list that is read page by page. */
interface Reading {
  readonly query: RunQuery
  cursor: string | undefined
  /** Order of the last run read. */
  order: number
}

type Merge = Extract<Operation, { do: 'merge' }>

const DAY_MS = 24 * 60 * 60 * 1000

/** A store and its model, side by side. */
export interface RunScenario {
  /** Applies one operation to both, and compares them. */
  play(operation: Operation): Promise<void>
  /** Compares everything. */
  end(): Promise<void>
}

/** @param note Called with the name of each event. */
export function runScenario(store: RunStore, clock: FakeClock, note: (what: string) => void): RunScenario {
  const model = runModel(clock.now)
  const readings: Reading[] = []
  const given: { readonly run: StoredRun; readonly copy: StoredRun }[] = []

  async function merge({ tenant, sessionId, runId, parentRunId, decision, throws }: Merge): Promise<void> {
    const key = { tenant, sessionId, runId, parentRunId }
    const was = model.run(key)
    const isElsewhere = model.runs.some(({ state }) => state.runId === runId && state.sessionId !== sessionId)
    if (isElsewhere) note('a run id of another session')
    const { state, ...rest } = decision
    const full: RunState | undefined = state && { runId, sessionId, ...state }
    const decided: MergeDecision<unknown> = { result: decision, ...rest, state: full }
    const decide = (snapshot: MergeSnapshot): MergeDecision<unknown> => {
      checkSnapshot(snapshot, key, model, note)
      if (throws) throw new Error('broken on purpose')
      return decided
    }
    if (throws) {
      const error = await store.mergeRun(key, decide).catch((cause: unknown) => cause)
      hold(
        'an error of a decision is rethrown',
        error instanceof Error && error.message === 'broken on purpose',
        () => error,
      )
      return
    }
    const merged = await store.mergeRun(key, decide)
    const expected = model.merge(key, decided)
    same('a merge returns the result of its decision', merged.result, decision)
    same('a merge returns the stored run', merged.run, storedOf(expected))
    hold('a merge omits `run` if there is none', expected !== undefined || !('run' in merged), () => merged)
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
    same('a page continues where the previous one ended', page.items, expected.map(storedOf))
    const hasMore = left.length > expected.length
    hold('a page has a cursor while more runs match', (page.nextCursor !== undefined) === hasMore, () => page)
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
    same('a removal removes the matching runs, up to the limit', count, Math.min(fitting.length, query.limit))
    let gone = 0
    for (const run of fitting) {
      if (await store.findRun({ tenant: run.tenant, ...run.state })) continue
      model.remove(run)
      gone += 1
    }
    same('a removal returns its count', gone, count)
    if (count > 0) note(count < fitting.length ? 'removed some' : 'removed all that match')
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
        same('an opened session exists', opened, found)
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
        same('an erasure returns its count', count, expected)
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
      // The result of the first read is modified; the second read must not show that.
      for (let times = 0; times < 2; times++) {
        await checkRuns(store, model)
        await checkSums(store, model, clock)
      }
      for (const { run, copy } of given) same('a returned run does not change', run, copy)
    },
  }
}

function checkAncestors(found: MergeSnapshot['ancestors'], expected: readonly ModelAncestor[]): void {
  same(
    'a merge sees the ancestors, nearest first',
    found.map((one) => [one.runId, one.run]),
    expected.map((one) => [one.runId, storedOf(one.run)]),
  )
  for (const [at, { descendants }] of expected.entries()) checkDescendants(found[at]?.descendants, descendants)
}

function checkSnapshot(
  snapshot: MergeSnapshot,
  key: Parameters<RunModel['ancestors']>[0],
  model: RunModel,
  note: (what: string) => void,
): void {
  const { tenant, sessionId, runId } = key
  same('a merge sees the run', snapshot.run, storedOf(model.run(key)))
  checkSession(snapshot.session, tenant, sessionId, model)
  checkDescendants(snapshot.descendants, model.descendantSum(tenant, sessionId, runId))
  const { counted, named } = model.ancestors(key)
  checkAncestors(snapshot.ancestors, counted)
  hold('a merge sees the ancestors of another parent', !snapshot.newAncestors === !named, () => ({ key, named }))
  if (snapshot.newAncestors && named) checkAncestors(snapshot.newAncestors, named)
  const ancestors = named ?? counted
  note(`${ancestors.length} ancestors`)
  if (ancestors.some((one) => one.runId === runId)) note('its own ancestor')
  if (ancestors.length > 0 && snapshot.session === undefined) note('a parent without a session')
}

function checkDescendants(sum: Totals | undefined, adds: readonly Totals[]): void {
  same('descendants have totals once something was added', sum !== undefined, adds.length > 0)
  same('totals of descendants are the sum of their addends', sumOf(sum ? [sum] : []), sumOf(adds))
}

function checkSession(session: StoredSession | undefined, tenant: string, sessionId: string, model: RunModel): void {
  const { totals, ...found } = session ?? {}
  same('a session equals its model', found, { ...model.session(tenant, sessionId) })
  same('totals are the sum of their addends', sumOf(totals ? [totals] : []), sumOf(model.sessionSum(tenant, sessionId)))
}

async function checkRuns(store: RunStore, model: RunModel): Promise<void> {
  const all = takenFrom(await store.listRuns({ limit: 1_000 }))
  same('a list without filters has all runs', all, { items: model.runs.map(storedOf) })
  for (const tenant of TENANTS)
    for (const sessionId of SESSIONS)
      for (const runId of RUNS) {
        const key = { tenant, sessionId, runId }
        same('a run equals its model', takenFrom(await store.findRun(key)), storedOf(model.run(key)))
      }
}

/** Compares all sums. */
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
        same('a spend is the sum of its addends', sumOf([spend]), sumOf(model.spendSum(tenant, userId, day)))
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

/** As JSON, without key order and prototypes. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

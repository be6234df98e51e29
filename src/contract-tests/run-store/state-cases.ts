import type { RunState } from '../../model/run.ts'
import { equal } from '../assertions.ts'
import { listIds, readAll, runIdsOf, see, spoilRuns } from './reading.ts'
import {
  decide,
  HOSTILE_IDS,
  HOSTILE_NAMES,
  otherOf,
  put,
  QUIET,
  type RunStoreCase,
  runKeyOf,
  stateOf,
} from './run-fixtures.ts'
import { changesOf, own } from './totals-fixtures.ts'

const TEXTS = [
  ...[
    '',
    ' ',
    ' a ',
    'a\u0301',
    'á',
    '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
    '漢字',
    'עברית',
    '\u2028\u2029',
    '\ufeff',
  ],
  ...['\r\n\t\b\u0001\u007f', '"\'\\`$%_', 'null', '1e999', '\uffff', '\u{10ffff}', '<script>', "'; DROP TABLE x; --"],
]
const NUMBERS = [
  0,
  1,
  -1,
  0.1,
  1e-7,
  1.5e300,
  5e-324,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  2 ** 31,
  2 ** 32,
]

function everyPart(): Partial<RunState> {
  return {
    parentRunId: 'p',
    resumedFromRunId: 'o',
    attempt: 2,
    seq: Number.MAX_SAFE_INTEGER,
    status: 'failed',
    earliest: { queuedAt: 1, startedAt: 2, firstTokenAt: 3 },
    counts: { inputTokens: Number.MAX_SAFE_INTEGER, ...own('__proto__', 1) },
    final: {
      endedAt: 9,
      durationMs: 8,
      error: { type: 'x', nested: [{ a: [[], {}, null, true] }] },
      finishReason: 'stop',
    },
    latest: {
      provider: 'p',
      'agent.name': 'ü',
      deep: { list: NUMBERS, texts: TEXTS, none: null },
      ...own('__proto__', 'x'),
    },
    metadata: { gone: null, yes: true, n: 0.1, ...own('constructor', 'x') },
    tags: ['', 'a', 'b'],
    seqs: { status: 4, ...own('__proto__', 5) },
    finalWith: { error: { status: 'expired', seq: -1 } },
  }
}

/** What is stored comes back as it was, and is nobody else's. */
export const STATE_CASES: readonly RunStoreCase[] = [
  {
    name: 'a state comes back as it was, with every text, number and nested part',
    async run({ store }) {
      const state = stateOf(runKeyOf('r'), everyPart())
      equal((await put(store, runKeyOf('r'), everyPart())).state, state)
      equal((await store.findRun('t', 'r'))?.state, state)
      equal((await see(store, runKeyOf('r'))).run?.state, state)
      equal(
        (await readAll(store)).map((run) => run.state),
        [state],
      )
    },
  },
  {
    name: 'a state of 64 kB comes back as it was',
    async run({ store }) {
      const names = Array.from({ length: 512 }, (_, at) => [`n${at}`, `${at}-${'ü'.repeat(60)}`] as const)
      const more = { metadata: Object.fromEntries(names), latest: { deep: nested(200) } }
      await put(store, runKeyOf('r'), more)
      equal((await store.findRun('t', 'r'))?.state, stateOf(runKeyOf('r'), more))
    },
  },
  {
    name: 'a state that replaces another leaves nothing of it',
    async run({ store }) {
      await put(store, runKeyOf('r'), everyPart())
      await put(store, runKeyOf('r'))
      equal((await store.findRun('t', 'r'))?.state, stateOf(runKeyOf('r')))
      equal(await listIds(store, { provider: 'p' }), [])
      equal(await listIds(store, { tag: 'a' }), [])
      equal((await see(store, runKeyOf('r'))).ancestors, [])
    },
  },
  {
    name: 'an account and failures come back as they were',
    async run({ store }) {
      const cost = {
        amount: '0.000000000000000000001',
        currency: 'USD',
        source: 'client',
        pricingVersion: '2026',
      } as const
      const derived = {
        cost,
        shares: [cost, cost],
        ended: ['expired', 'failed'],
        pending: ['budget'],
        top: true,
      } as const
      const failures = TEXTS.map((text, at) => ({
        runId: `r${at}`,
        at,
        userId: text,
        error: { type: 'x', message: text },
      }))
      await put(store, runKeyOf('r'), {}, { derived, failures })
      equal((await store.findRun('t', 'r'))?.derived, derived)
      equal((await store.findSession('t', 's'))?.failures, failures)
    },
  },
  {
    name: 'runs are told apart by their ids, whatever these are',
    async run({ store }) {
      for (const [steps, runId] of HOSTILE_IDS.entries()) {
        equal((await put(store, runKeyOf(runId), { counts: { steps } })).revision, 1, `${runId} is a run of its own`)
      }
      for (const [steps, runId] of HOSTILE_IDS.entries()) {
        equal((await store.findRun('t', runId))?.state, stateOf(runKeyOf(runId), { counts: { steps } }))
      }
      equal([...(await listIds(store))].sort(), [...HOSTILE_IDS].sort())
    },
  },
  {
    name: 'users, providers, models and tags are told apart, whatever their names are',
    async run({ store }) {
      for (const [at, name] of HOSTILE_NAMES.entries()) {
        const latest = { userId: name, provider: name, model: name }
        await put(store, runKeyOf(`r${at}`), { latest, tags: [name] })
      }
      for (const [at, name] of HOSTILE_NAMES.entries())
        for (const facet of ['userId', 'provider', 'model', 'tag'] as const)
          equal(
            await listIds(store, { tenant: 't', [facet]: name }),
            [`r${at}`],
            `runs by the ${facet} ${JSON.stringify(name)}`,
          )
    },
  },
  {
    name: 'what a find or a list gave may be changed, and the store has what it had',
    async run({ store }) {
      const failures = [{ runId: 'r', at: 1, error: { type: 'x' } }]
      const run = structuredClone(await put(store, runKeyOf('r'), everyPart(), { failures: structuredClone(failures) }))
      for (let times = 0; times < 2; times++) {
        const found = await store.findRun('t', 'r')
        equal(found, run)
        spoilRuns(found)
        const page = await store.listRuns({ limit: 9 })
        equal(page, { items: [run] })
        spoilRuns(page)
        const { totals: _, ...session } = (await store.findSession('t', 's')) ?? {}
        equal(session, { tenant: 't', sessionId: 's', createdAt: run.createdAt, updatedAt: run.updatedAt, failures })
        spoilRuns(session)
      }
      equal((await see(store, runKeyOf('r'))).run, run)
    },
  },
  {
    name: 'a spend that was given may be changed, and the store has what it had',
    async run({ store }) {
      const add = { runs: 1, tokens: 2, cost: { USD: '0.1' }, unpricedRuns: 0, unpricedTokens: 0 }
      await put(
        store,
        runKeyOf('r'),
        {},
        { totalsChanges: changesOf({ users: [{ userId: 'u', add: structuredClone(add) }] }) },
      )
      for (const userId of ['u', 'u', 'nobody', 'nobody']) {
        const spend = await store.findSpend('t', userId, 0)
        equal(spend.runs, userId === 'u' ? 1 : 0)
        equal(spend.cost, userId === 'u' ? add.cost : {})
        spoilRuns(spend)
      }
    },
  },
  {
    name: 'what one handle writes, the other has at once',
    needs: ['secondHandle'],
    async run(trial) {
      const { store } = trial
      const other = otherOf(trial)
      const run = await put(store, runKeyOf('r'), everyPart())
      equal(await other.findRun('t', 'r'), run)
      equal((await see(other, runKeyOf('r'))).run, run)
      equal(runIdsOf(await readAll(other)), ['r'])
      equal(await other.findSession('t', 's'), await store.findSession('t', 's'))
      const again = await decide(other, runKeyOf('r'), { state: stateOf(runKeyOf('r')), derived: QUIET })
      equal(await store.findRun('t', 'r'), again)
      equal(again?.revision, 2)
      equal(await other.openSession('t', 'new'), await store.openSession('t', 'new'))
      equal(await other.erase('t', { sessionId: 's' }), 1)
      equal(await store.findRun('t', 'r'), undefined)
    },
  },
]

function nested(depth: number): { readonly [name: string]: ReturnType<typeof nested> } {
  return depth === 0 ? {} : { in: nested(depth - 1) }
}

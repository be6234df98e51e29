import type { RunReport } from '../../model/run.ts'
import { equal } from '../assertions.ts'
import { adding, HOSTILE_IDS, HOSTILE_NAMES, own, runKeyOf, spoilRuns, stateOf } from './run-fixtures.ts'
import { type RunStoreCase, runCases } from './run-harness.ts'

const TEXTS = [
  ...['', ' ', ' a ', 'a\u0301', 'á'],
  ...['\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '漢字', 'עברית', '\u2028\u2029', '\ufeff'],
  ...['\r\n\t\b\u0001\u007f', '"\'\\`$%_', 'null', '1e999', '\uffff', '\u{10ffff}', '<script>', "'; DROP TABLE x; --"],
]
const NUMBERS = [
  ...[0, 1, -1, 0.1, 1e-7, 1.5e300, 5e-324, 2 ** 31, 2 ** 32],
  ...[Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER],
]

/** A report with every member. */
export function everyPart(): Partial<RunReport> {
  return {
    parentRunId: 'p',
    resumedFromRunId: 'o',
    attempt: 2,
    seq: Number.MAX_SAFE_INTEGER,
    status: 'failed',
    earliest: { queuedAt: 1, startedAt: 2, firstTokenAt: 3 },
    counts: { inputTokens: Number.MAX_SAFE_INTEGER, ...own('__proto__', 1) },
    clearCounts: { inputTokens: 1 },
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

export const stateCases: readonly RunStoreCase[] = runCases([], {
  'a state keeps all texts, numbers and nested members': async (t) => {
    const state = stateOf(runKeyOf('r'), everyPart())
    equal((await t.put('r', everyPart())).state, state)
    equal((await t.run('r'))?.state, state)
    equal((await t.see('r')).run?.state, state)
    equal(
      (await t.list()).map((run) => run.state),
      [state],
    )
  },
  'a state of 64 kB is stored exactly': async (t) => {
    const names = Array.from({ length: 512 }, (_, at) => [`n${at}`, `${at}-${'ü'.repeat(60)}`] as const)
    const more = { metadata: Object.fromEntries(names), latest: { deep: nested(200) } }
    await t.put('r', more)
    equal((await t.run('r'))?.state, stateOf(runKeyOf('r'), more))
  },
  'a state replaces the whole earlier state': async (t) => {
    await t.put('r', everyPart())
    await t.put('r')
    equal((await t.run('r'))?.state, stateOf(runKeyOf('r')))
    equal(await t.ids({ provider: 'p' }), [])
    equal(await t.ids({ tag: 'a' }), [])
    equal(await t.ancestors('r'), [])
  },
  'derived data and failures are stored exactly': async (t) => {
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
    await t.put('r', {}, { derived, failures })
    equal((await t.run('r'))?.derived, derived)
    equal((await t.session())?.failures, failures)
  },
  'runs with similar ids are separate': async (t) => {
    for (const [steps, runId] of HOSTILE_IDS.entries())
      equal((await t.put(runId, { counts: { steps } })).revision, 1, `${runId} is a run of its own`)
    for (const [steps, runId] of HOSTILE_IDS.entries())
      equal((await t.run(runId))?.state, stateOf(runKeyOf(runId), { counts: { steps } }))
    equal([...(await t.ids())].sort(), [...HOSTILE_IDS].sort())
  },
  'users, providers, models and tags with similar names are separate': async (t) => {
    for (const [at, name] of HOSTILE_NAMES.entries()) {
      const latest = { userId: name, provider: name, model: name }
      await t.put(`r${at}`, { latest, tags: [name] })
    }
    for (const [at, name] of HOSTILE_NAMES.entries())
      for (const facet of ['userId', 'provider', 'model', 'tag'] as const)
        equal(await t.ids({ tenant: 't', [facet]: name }), [`r${at}`], `runs by the ${facet} ${JSON.stringify(name)}`)
  },
  'changing a found or listed run does not change the stored one': async (t) => {
    const failures = [{ runId: 'r', at: 1, error: { type: 'x' } }]
    const run = structuredClone(await t.put('r', everyPart(), { failures: structuredClone(failures) }))
    for (let times = 0; times < 2; times++) {
      const found = await t.run('r')
      equal(found, run)
      spoilRuns(found)
      const page = await t.store.listRuns({ limit: 9 })
      equal(page, { items: [run] })
      spoilRuns(page)
      const { totals: _, ...session } = (await t.session()) ?? {}
      equal(session, { tenant: 't', sessionId: 's', createdAt: run.createdAt, updatedAt: run.updatedAt, failures })
      spoilRuns(session)
    }
    equal((await t.see('r')).run, run)
  },
  'changing a returned spend does not change the stored one': async (t) => {
    const add = { runs: 1, tokens: 2, cost: { USD: '0.1' }, unpricedRuns: 0, unpricedTokens: 0 }
    await t.put('r', {}, adding({ users: [{ userId: 'u', add: structuredClone(add) }] }))
    for (const userId of ['u', 'u', 'nobody', 'nobody']) {
      const spend = await t.spend(userId)
      equal(spend.runs, userId === 'u' ? 1 : 0)
      equal(spend.cost, userId === 'u' ? add.cost : {})
      spoilRuns(spend)
    }
  },
})

function nested(depth: number): { readonly [name: string]: ReturnType<typeof nested> } {
  return depth === 0 ? {} : { in: nested(depth - 1) }
}

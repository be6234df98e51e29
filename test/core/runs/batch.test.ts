import { describe, expect, it } from 'vitest'
import { type HandlerResult, isRefused } from '../../../src/core/answers/result.ts'
import { handleSessionRun } from '../../../src/core/runs/handle-session-run.ts'
import { handleSessionRunBatch } from '../../../src/core/runs/handle-session-run-batch.ts'
import type { SessionRunDeps } from '../../../src/core/runs/record-deps.ts'
import type { Problem } from '../../../src/errors.ts'
import type { SessionRunBatchAnswer } from '../../../src/model/run-batch.ts'
import { facetsOf } from '../../../src/model/run-facets.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fc, runs } from '../../support/properties.ts'
import { NOW, recorder, stillClock } from './recorder.ts'

interface Sent {
  readonly token?: string
  readonly prefer?: string
}

function send(
  deps: SessionRunDeps,
  body: unknown,
  { token = 'app', prefer }: Sent = {},
): Promise<HandlerResult<SessionRunBatchAnswer>> {
  const headers = { authorization: `Bearer ${token}`, ...(prefer !== undefined && { prefer }) }
  return handleSessionRunBatch({ headers, body }, deps)
}

async function resultsOf(
  deps: SessionRunDeps,
  runs: readonly unknown[],
  sent?: Sent,
): Promise<SessionRunBatchAnswer['results']> {
  const result = await send(deps, { runs }, sent)
  if (!result.ok) throw new Error(JSON.stringify(result.body))
  expect(result.status).toBe(200)
  return result.body.results
}

const problemsOf = (problem: Problem | undefined) =>
  problem && [problem.code, ...(problem.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`)]

const of = (run: object, sessionId = 's1') => ({ sessionId, run })

/** Independent posts of every kind. */
const MIXED: readonly unknown[] = [
  of({ runId: 'good', status: 'completed', counts: { steps: 1 }, tags: ['a'] }),
  of({ runId: 'warned', prompt: 'x', error: { type: 'x' }, agent: { role: 'x' } }),
  of({ runId: 'clamped', status: 'failed', timings: { startedAt: NOW, endedAt: NOW - 5 } }),
  of({ runId: 'bad', counts: { steps: -1 }, status: 'interrupted', timings: { startedAt: 1_795_248_000 } }),
  of({ runId: 'ahead', timings: { startedAt: NOW + 300_001 } }),
  of({ runId: 'circular', parentRunId: 'circular' }),
  of({ runId: 'foreign' }, 's2'),
  of({ runId: 'kept', attempt: 2 }),
  of({ runId: 'kept', status: 'completed' }),
  of({ runId: 'unstorable' }),
  of({ runId: 'broken' }),
  {},
  null,
  undefined,
  7,
  'text',
  [],
  [of({ runId: 'nested' })],
  { runs: [of({ runId: 'nested' })] },
  { run: { runId: 'no-session' } },
  JSON.parse('{"sessionId":"s1","run":{"runId":"proto","metadata":{"__proto__":{"x":1}}}}'),
  JSON.parse('{"__proto__":{"sessionId":"s1","run":{"runId":"proto"}}}'),
  JSON.parse('{"sessionId":"s1","run":{"runId":"nul","model":"\\u0000"}}'),
  JSON.parse('{"sessionId":"\\ud800","run":{"runId":"half"}}'),
  JSON.parse(`{"sessionId":"s1","run":{"runId":"deep","usage":${'{"a":'.repeat(5000)}1${'}'.repeat(5000)}}}`),
  of({ runId: 'much', counts: { steps: Number.POSITIVE_INFINITY }, seq: 2 ** 53 }),
  of({ runId: 'odd', model: new Date(0), provider: () => 1 }),
  of({ runId: 'names', metadata: { constructor: 'a', toString: 'b' }, counts: { hasOwnProperty: 1 } }),
  { sessionId: 's1', run: { runId: 'last' }, toString: 1 },
]

/** Deps over a store with one run, of the caller, and some faults. */
async function troubled(token = 's1'): Promise<ReturnType<typeof recorder> & { store: RunStore }> {
  const inner = memoryStore({ clock: stillClock() })
  const store: RunStore = {
    ...inner,
    async mergeRun(key, decide) {
      if (key.runId === 'unstorable') throw new TypeError('connection to 10.0.0.1 lost')
      const merged = await inner.mergeRun(key, decide)
      return key.runId === 'broken' ? { result: merged.result } : merged
    },
  }
  const made = recorder({ store })
  await made.post({ runId: 'kept', attempt: 1 }, { token })
  return { ...made, store }
}

/** The answer to one post alone, in the form of a batch result. */
async function alone(body: unknown, index: number, token: string, prefer?: string): Promise<unknown> {
  const { deps } = await troubled(token)
  const headers = { authorization: `Bearer ${token}`, ...(prefer !== undefined && { prefer }) }
  const result = await handleSessionRun({ headers, body }, deps)
  const within = ({ pointer, ...reported }: { pointer: string }) => ({
    ...reported,
    pointer: `/runs/${index}${pointer}`,
  })
  if (result.ok) return { ...result.body, status: result.status, warnings: result.body.warnings.map(within) }
  const { errors, ...problem } = result.body
  const retryAfter = result.headers['retry-after']
  return {
    status: result.status,
    problem: {
      ...problem,
      requestId: expect.stringMatching(/^req_\d+$/),
      ...(errors && { errors: errors.map(within) }),
    },
    ...(retryAfter !== undefined && { retryAfterMs: Number(retryAfter) * 1000 }),
  }
}

describe('a batch of posts', () => {
  it.each([
    ['app', undefined],
    ['s1', undefined],
    ['app', 'return=minimal'],
  ])('Every post of a batch is answered as if alone, to %s with Prefer: %s', async (token, prefer) => {
    const { deps } = await troubled(token)
    const results = await resultsOf(deps, MIXED, prefer === undefined ? { token } : { token, prefer })
    expect(results).toHaveLength(MIXED.length)
    for (const [index, post] of MIXED.entries()) {
      expect(results[index]).toEqual(await alone(post, index, token, prefer))
    }
  })

  it('Pointers in a batch start at the batch', async () => {
    const { deps, lines } = await troubled()
    const results = await resultsOf(deps, MIXED, { token: 's1' })
    expect(results.map(({ status }) => status)).toEqual([
      ...[201, 201, 201, 422, 422, 422, 403, 409, 200, 503, 500],
      ...[422, 422, 422, 422, 422, 422, 422, 422, 422],
      ...[422, 422, 422, 422, 422, 422, 422, 201, 201],
    ])
    expect(
      results.map(({ problem }) => problemsOf(problem)).filter((reported) => reported?.length !== 0),
    ).toMatchObject({
      3: [
        'validation_failed',
        '/runs/3/run/status not_allowed',
        '/runs/3/run/timings/startedAt out_of_range',
        '/runs/3/run/counts/steps out_of_range',
      ],
      4: ['validation_failed', '/runs/4/run/timings/startedAt out_of_range'],
      5: ['validation_failed', '/runs/5/run/parentRunId not_allowed'],
      6: ['insufficient_scope'],
      7: ['run_identity_conflict', '/runs/7/run/attempt conflict'],
      9: ['store_unavailable'],
      10: ['internal_error'],
      12: ['validation_failed', '/runs/12 type'],
      20: ['validation_failed', '/runs/20/run/metadata/__proto__ forbidden_key'],
      22: ['validation_failed', '/runs/22/run/model nul_character'],
      25: ['validation_failed', '/runs/25/run/seq out_of_range', '/runs/25/run/counts/steps out_of_range'],
    })
    expect(results[1]).toMatchObject({
      warnings: [
        { pointer: '/runs/1/run/prompt' },
        { pointer: '/runs/1/run/agent/role' },
        { pointer: '/runs/1/run/error' },
      ],
    })
    expect(results[9]).toMatchObject({ retryAfterMs: 1000 })
    const ids = results.flatMap(({ problem }) => (problem ? [problem.requestId] : []))
    expect(new Set(ids).size).toBe(ids.length)
    const logged = results.flatMap(({ problem }) => (problem && problem.status >= 500 ? [problem.requestId] : []))
    expect(lines.map(({ fields }) => fields)).toMatchObject([...logged].sort().map((requestId) => ({ requestId })))
    expect(JSON.stringify(results)).not.toContain('10.0.0.1')
  })

  it('A batch records its valid posts only', async () => {
    const { deps, store } = await troubled()
    await resultsOf(deps, MIXED, { token: 's1' })
    const { items } = await store.listRuns({ tenant: 'default', limit: 99 })
    expect(items.map(({ state }) => state.runId).sort()).toEqual(
      ['broken', 'clamped', 'good', 'kept', 'last', 'names', 'warned'].sort(),
    )
    expect(await store.findSession('default', 's2')).toBeUndefined()
  })

  it('Prefer: return=minimal leaves the runs out of a batch answer, with Preference-Applied', async () => {
    const { deps } = recorder()
    const result = await send(deps, { runs: [of({ runId: 'r1' })] }, { prefer: 'return=minimal' })
    expect(result.headers).toEqual({ 'preference-applied': 'return=minimal' })
    expect(result.body).toEqual({
      results: [{ status: 201, created: true, changed: true, ignored: [], warnings: [] }],
      warnings: [],
    })
    expect((await send(deps, { runs: [of({ runId: 'r1' })] })).headers).toEqual({})
  })

  it('A batch takes 100 posts and answers in their order', async () => {
    const { deps } = recorder()
    const ids = Array.from({ length: 100 }, (_, at) => `r${at}`)
    const results = await resultsOf(
      deps,
      ids.map((runId, at) => of({ runId }, `s${at % 7}`)),
    )
    expect(results.map((result) => (result.problem ? undefined : result.run?.runId))).toEqual(ids)
    expect(results.every(({ status }) => status === 201)).toBe(true)
  })

  it('Posts give the same run in any order, in one batch, in several, or alone', async () => {
    const posts = [
      { status: 'running', timings: { startedAt: NOW - 500 }, seq: 1, tags: ['a'] },
      { status: 'completed', timings: { endedAt: NOW }, counts: { steps: 3 }, seq: 2 },
      { status: 'failed', error: { type: 'x' }, seq: 2, metadata: { k: 'b' } },
      { timings: { startedAt: NOW - 900 }, counts: { steps: 5 }, metadata: { k: 'a' }, seq: 1 },
      { model: 'm', seq: 3, tags: ['b'], metadata: { k: null } },
    ].map((run) => of({ runId: 'r1', ...run }))
    const stateAfter = async (batches: readonly (readonly unknown[])[]) => {
      const { deps } = recorder()
      for (const runs of batches) await resultsOf(deps, runs)
      return (await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.state
    }
    const state = await stateAfter(posts.map((post) => [post]))
    expect(state && facetsOf(state)).toMatchObject({ status: 'failed', tags: ['a', 'b'] })
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(posts, { minLength: posts.length }), fc.nat(4), async (order, cut) => {
        const batches = [order.slice(0, cut), [...order.slice(cut), ...order.slice(0, 2)]].filter(
          ({ length }) => length > 0,
        )
        expect(await stateAfter(batches)).toEqual(state)
      }),
      { numRuns: runs(60) },
    )
  })

  it('Several posts of one run in a batch create it once', async () => {
    const results = await resultsOf(
      recorder().deps,
      Array.from({ length: 5 }, () => of({ runId: 'r1' })),
    )
    expect(results.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
  })

  it('All posts of a batch reach the store concurrently', async () => {
    const inner = memoryStore({ clock: stillClock() })
    let arrived = 0
    let open: () => void = () => {}
    const all = new Promise<void>((resolve) => {
      open = resolve
    })
    const store: RunStore = {
      ...inner,
      async mergeRun(key, decide) {
        if (++arrived === 100) open()
        await all
        return inner.mergeRun(key, decide)
      },
    }
    const runs = Array.from({ length: 100 }, (_, at) => of({ runId: `r${at}` }))
    expect(await resultsOf(recorder({ store }).deps, runs)).toHaveLength(100)
  })

  it("`sessions: 'must-exist'` applies to every post of a batch", async () => {
    const { deps } = recorder({ sessions: 'must-exist' })
    await deps.store.openSession('default', 's1')
    await deps.store.openSession('other', 's2')
    const results = await resultsOf(deps, [of({ runId: 'r1' }), of({ runId: 'r2' }, 's2')])
    expect(results.map(({ status, problem }) => [status, problem?.code])).toEqual([
      [201, undefined],
      [404, 'session_not_found'],
    ])
  })
})

describe('invalid batches', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => of({ runId: `r${at}` }))
  const deep = JSON.parse(`${'['.repeat(50)}${']'.repeat(50)}`)

  it.each<[string, unknown, string[]]>([
    ['null', null, [' type']],
    ['nothing', undefined, [' required']],
    ['a text', 'runs', [' type']],
    ['a list', [of({ runId: 'r1' })], [' type']],
    ['an object without runs', {}, ['/runs required']],
    ['one post', of({ runId: 'r1' }), ['/runs required']],
    ['runs that are null', { runs: null }, ['/runs type']],
    ['runs that are one post', { runs: of({ runId: 'r1' }) }, ['/runs type']],
    ['runs that are a text', { runs: 'r1' }, ['/runs type']],
    ['no runs', { runs: [] }, ['/runs too_short']],
    ['101 runs', { runs: many(101) }, ['/runs too_many']],
    ['very many runs', { runs: Array.from({ length: 500_000 }, () => 0) }, ['/runs too_many']],
    ['runs by inheritance', JSON.parse('{"__proto__":{"runs":[]}}'), ['/__proto__ forbidden_key']],
    ['a hostile key beside the runs', JSON.parse('{"__proto__":1,"runs":[{}]}'), ['/__proto__ forbidden_key']],
    ['a NUL beside the runs', { runs: many(1), x: '\0' }, ['/x nul_character']],
    ['depth beside the runs', { runs: many(1), x: deep }, [`/x${'/0'.repeat(31)} too_deep`]],
  ])('An invalid batch is refused as a whole: %s', async (_, body, faults) => {
    const { deps } = recorder()
    const result = await send(deps, body)
    expect(result.status).toBe(422)
    if (result.ok) return
    expect(problemsOf(result.body)).toEqual(['validation_failed', ...faults])
    expect((await deps.store.listRuns({ tenant: 'default', limit: 9 })).items).toEqual([])
  })

  it('The posts of an invalid batch are not read', async () => {
    const { deps } = recorder()
    const result = await send(deps, { runs: Array.from({ length: 101 }, () => ({ canary: '\0' })) })
    expect(result.ok ? [] : result.body.errors).toEqual([
      { pointer: '/runs', code: 'too_many', detail: 'expected 1 to 100 posts' },
    ])
  })

  it('Unknown members of a batch are dropped with a warning', async () => {
    const { deps } = recorder()
    const result = await send(deps, { runs: many(1), sessionId: 's1', 'a/b': {} })
    expect(result.ok && result.body).toMatchObject({
      results: [{ status: 201, warnings: [] }],
      warnings: [
        { code: 'unknown_field', pointer: '/sessionId' },
        { code: 'unknown_field', pointer: '/a~1b' },
      ],
    })
  })

  it('A batch of an unauthenticated caller is refused without details, with the same scope as a post', async () => {
    const operations: string[] = []
    const { deps } = recorder()
    const auth: SessionRunDeps['auth'] = {
      verify(token, operation) {
        operations.push(operation)
        return deps.auth.verify(token, operation)
      },
    }
    const watched = { ...deps, auth }
    for (const [token, status] of [
      ['nobody', 401],
      ['broken', 503],
      ['app', 422],
    ] as const) {
      const result = await send(watched, 'junk', { token })
      expect([result.status, isRefused(result.body)]).toEqual([status, false])
      expect('errors' in result.body).toBe(status === 422)
    }
    expect(operations).toEqual(['session_run', 'session_run', 'session_run'])
    const bare = await handleSessionRunBatch({ headers: {}, body: { runs: many(1) } }, deps)
    expect(bare).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="sallyport"' } })
  })
})

it('A long batch yields to the event loop, and a short one does not', async () => {
  const posts = Array.from({ length: 20 }, (_, at) => of({ runId: `r${at}` }))
  const turnsOf = async (msEachLook: number): Promise<number> => {
    const still = stillClock()
    let turns = 0
    let looks = 0
    const clock = {
      now: () => still.now() + msEachLook * looks++,
      after(_: number, run: () => void) {
        turns++
        queueMicrotask(run)
        return () => {}
      },
    }
    const { deps } = recorder({ clock })
    const results = await resultsOf(deps, posts)
    expect(results.map(({ status }) => status)).toEqual(posts.map(() => 201))
    return turns
  }
  expect(await turnsOf(0)).toBe(0)
  expect(await turnsOf(10)).toBe(20)
})

import { describe, expect, it } from 'vitest'
import { handleSessionRun } from '../../../src/core/runs/handle-session-run.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { answerOf, problemOf, recorder, runOf, stillClock } from './recorder.ts'

describe('access to runs', () => {
  it('A session token records runs of its own session only', async () => {
    const { post, deps } = recorder()
    expect((await post({ runId: 'r1' }, { token: 's1' })).status).toBe(201)
    const foreign = await post({ runId: 'r2' }, { token: 's1', sessionId: 's2' })
    expect(foreign.status).toBe(403)
    expect(problemOf(foreign).code).toBe('insufficient_scope')
    expect(foreign.headers['www-authenticate']).toContain('error="insufficient_scope"')
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r2' })).toBeUndefined()
    expect(await deps.store.findSession('default', 's2')).toBeUndefined()
  })

  it('An invalid body is refused before the session of the token is checked', async () => {
    expect((await recorder().post({}, { token: 's1', sessionId: 's2' })).status).toBe(422)
  })

  it('Two tenants may have runs with the same id', async () => {
    const { post, deps } = recorder()
    await post({ runId: 'r1', model: 'a' })
    const other = await post({ runId: 'r1', model: 'b' }, { token: 'other', sessionId: 's9' })
    expect(other.status).toBe(201)
    expect((await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.state.sessionId).toBe('s1')
    expect((await deps.store.listRuns({ tenant: 'other', sessionId: 's1', limit: 9 })).items).toEqual([])
  })

  it('A post with other ids is 409 naming each of them, writes nothing and echoes no value', async () => {
    const { post, deps } = recorder()
    await post({ runId: 'r1', parentRunId: 'p-one', resumedFromRunId: 'f-one', attempt: 1 })
    const before = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })
    const result = await post({
      runId: 'r1',
      status: 'failed',
      parentRunId: 'p-two',
      resumedFromRunId: 'f-two',
      attempt: 2,
    })
    expect(result.status).toBe(409)
    expect(problemOf(result)).toMatchObject({
      code: 'run_identity_conflict',
      errors: [
        { pointer: '/run/parentRunId', code: 'conflict' },
        { pointer: '/run/resumedFromRunId', code: 'conflict' },
        { pointer: '/run/attempt', code: 'conflict' },
      ],
    })
    expect(JSON.stringify(result)).not.toMatch(/p-one|p-two|f-one|f-two|s1/)
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })).toEqual(before)
  })

  it('A run with the same id in another session is another run', async () => {
    const { post, deps } = recorder()
    await post({ runId: 'r1', parentRunId: 'p', attempt: 1, model: 'mine', counts: { inputTokens: 5 } })
    const key = { tenant: 'default', sessionId: 's1', runId: 'r1' }
    const before = await deps.store.findRun(key)
    const other = await post({ runId: 'r1', parentRunId: 'q', attempt: 2, model: 'theirs' }, { sessionId: 's2' })
    expect(other.status).toBe(201)
    expect(runOf(other)).toMatchObject({ sessionId: 's2', parentRunId: 'q', attempt: 2, revision: 1 })
    expect(runOf(other)).not.toHaveProperty('counts')
    expect(await deps.store.findRun(key)).toEqual(before)
    expect((await post({ runId: 'r1', attempt: 1 })).status).toBe(200)
    expect((await deps.store.findSession('default', 's2'))?.totals.spend.runs).toBe(1)
  })

  it('A run with the same ids in another tenant is another run', async () => {
    const { post } = recorder()
    await post({ runId: 'r1', model: 'a', attempt: 1, counts: { steps: 9 } })
    const other = await post({ runId: 'r1', model: 'b', attempt: 2, counts: { steps: 1 } }, { token: 'other' })
    expect(other.status).toBe(201)
    expect(runOf(other)).toMatchObject({ model: 'b', attempt: 2, counts: { steps: 1 }, revision: 1 })
    expect(runOf(await post({ runId: 'r1' }))).toMatchObject({ model: 'a', attempt: 1, counts: { steps: 9 } })
  })

  it('An absent id takes the first value that is posted', async () => {
    const { post } = recorder()
    await post({ runId: 'r1' })
    expect(runOf(await post({ runId: 'r1', parentRunId: 'p', attempt: 2 }))).toMatchObject({
      parentRunId: 'p',
      attempt: 2,
    })
    expect((await post({ runId: 'r1', parentRunId: 'q' })).status).toBe(409)
  })

  it("`sessions: 'must-exist'` refuses an unknown session and writes nothing", async () => {
    const { post, deps } = recorder({ sessions: 'must-exist' })
    const result = await post({ runId: 'r1' })
    expect(result.status).toBe(404)
    expect(problemOf(result).code).toBe('session_not_found')
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })).toBeUndefined()
    expect(await deps.store.findSession('default', 's1')).toBeUndefined()
    await deps.store.openSession('other', 's1')
    expect((await post({ runId: 'r1' })).status).toBe(404)
    await deps.store.openSession('default', 's1')
    expect((await post({ runId: 'r1' })).status).toBe(201)
  })
})

describe('faults and isolation', () => {
  it('An unauthenticated caller learns nothing about its body', async () => {
    const { deps, post } = recorder()
    const bare = await handleSessionRun({ headers: {}, body: 'junk' }, deps)
    expect(bare).toMatchObject({ status: 401, headers: { 'www-authenticate': 'Bearer realm="sallyport"' } })
    expect(problemOf(bare).code).toBe('unauthorized')
    expect(problemOf(await post({}, { token: 'wrong' })).code).toBe('invalid_token')
    expect(problemOf(await post({}, { token: 'broken' })).code).toBe('auth_unavailable')
  })

  it('A store that throws is 503, with the cause only in the log', async () => {
    const broken = () => Promise.reject(new TypeError('connection to 10.0.0.1 lost'))
    const store = { ...memoryStore({ clock: stillClock() }), mergeRun: broken }
    const { post, lines } = recorder({ store })
    const result = await post({ runId: 'r1' })
    expect(result).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
    expect(problemOf(result).code).toBe('store_unavailable')
    expect(JSON.stringify(result)).not.toContain('10.0.0.1')
    expect(lines).toEqual([{ event: 'request.failed', fields: expect.objectContaining({ cause: 'TypeError' }) }])
  })

  it('Changing the ignored values of an answer does not change the stored run', async () => {
    const { post, deps } = recorder()
    const cost = (amount: number) => ({ amount, currency: 'USD', source: 'client' })
    await post({ runId: 'r1', seq: 2, cost: cost(5), status: 'failed', error: { type: 'first' } })
    const { ignored } = answerOf(
      await post({ runId: 'r1', seq: 1, cost: cost(9), status: 'failed', error: { type: 'x' } }),
    )
    expect(ignored.map(({ field }) => field).sort()).toEqual(['cost', 'error'])
    const stored = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })
    for (const { kept } of ignored) Object.assign(kept as object, { amount: '999', type: 'changed' })
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })).toEqual(stored)
  })

  it('Changing the run of an answer does not change the stored run', async () => {
    const { post, deps } = recorder()
    const body = {
      runId: 'r1',
      status: 'failed',
      tags: ['a'],
      error: { type: 'x' },
      metadata: { k: 1 },
      counts: { steps: 1 },
    }
    const run = runOf(await post(body)) as unknown as typeof body
    const stored = await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })
    for (const of of [run, body]) {
      of.tags.push('b')
      of.error.type = 'y'
      of.metadata.k = 2
      of.counts.steps = 2
    }
    expect(await deps.store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' })).toEqual(stored)
  })
})

import { describe, expect, it } from 'vitest'
import { handleSessionRun } from '../../../src/core/runs/handle-session-run.ts'
import { handleSessionRunBatch } from '../../../src/core/runs/handle-session-run-batch.ts'
import { answerOf, NOW, recorder, runOf } from './recorder.ts'

const POST = {
  runId: 'r1',
  provider: 'openai',
  model: 'gpt-5',
  status: 'success',
  timings: { startedAt: '2026-11-21T09:59:00+02:00', endedAt: NOW - 30_000 },
  counts: { inputTokens: 1200, outputTokens: 300, searches: 2 },
}

describe('handleSessionRun', () => {
  it('handleSessionRun and handleSessionRunBatch ask the verifier whether the token may record runs', async () => {
    const asked: unknown[] = []
    const { deps } = recorder({
      auth: {
        async verify(token, operation) {
          asked.push([token, operation])
          return { id: token, tenant: 'default' }
        },
      },
    })
    const headers = { authorization: 'Bearer app' }
    const post = { sessionId: 's1', run: { runId: 'r1' } }
    await handleSessionRun({ headers, body: post }, deps)
    await handleSessionRunBatch({ headers, body: { runs: [post] } }, deps)
    expect(asked).toEqual([
      ['app', 'session_run'],
      ['app', 'session_run'],
    ])
  })

  it('The first post of a run is 201 with the run', async () => {
    const result = await recorder().post(POST)
    expect(result).toMatchObject({ ok: true, status: 201, headers: {} })
    expect(answerOf(result)).toEqual({
      created: true,
      changed: true,
      ignored: [],
      warnings: [],
      run: {
        runId: 'r1',
        sessionId: 's1',
        status: 'completed',
        provider: 'openai',
        model: 'gpt-5',
        timings: { startedAt: '2026-11-21T07:59:00.000Z', endedAt: '2026-11-21T07:59:30.000Z', durationMs: 30_000 },
        counts: { inputTokens: 1200, outputTokens: 300, searches: 2 },
        createdAt: '2026-11-21T08:00:00.000Z',
        updatedAt: '2026-11-21T08:00:00.000Z',
        lastSeenAt: '2026-11-21T08:00:00.000Z',
        revision: 1,
        by: ['app'],
      },
    })
  })

  it('A post needs only a run id, and the run is running', async () => {
    expect(runOf(await recorder().post({ runId: 'r1' }))).toEqual({
      runId: 'r1',
      sessionId: 's1',
      status: 'running',
      createdAt: '2026-11-21T08:00:00.000Z',
      updatedAt: '2026-11-21T08:00:00.000Z',
      lastSeenAt: '2026-11-21T08:00:00.000Z',
      revision: 1,
      by: ['app'],
    })
  })

  it('A later post of a run is 200', async () => {
    const { post, clock } = recorder()
    await post({ runId: 'r1', status: 'running', timings: { startedAt: NOW - 1000 } })
    clock.advance(5000)
    const result = await post({ runId: 'r1', status: 'completed', timings: { endedAt: NOW } })
    expect(result.status).toBe(200)
    expect(answerOf(result)).toMatchObject({ created: false, changed: true, ignored: [] })
    expect(runOf(result)).toMatchObject({ revision: 2, updatedAt: '2026-11-21T08:00:05.000Z', status: 'completed' })
    expect(runOf(result).timings?.durationMs).toBe(1000)
  })

  it('A repeated post updates lastSeenAt and changes nothing else', async () => {
    const { post, clock } = recorder()
    const first = await post({ ...POST, tags: ['b', 'a'], metadata: { k: 1 }, seq: 3 })
    clock.advance(5000)
    const second = await post({ ...POST, tags: ['b', 'a'], metadata: { k: 1 }, seq: 3 })
    expect(second.status).toBe(200)
    const run = { ...runOf(first), lastSeenAt: '2026-11-21T08:00:05.000Z' }
    expect(answerOf(second)).toEqual({ ...answerOf(first), created: false, changed: false, run })
  })

  it('The answer lists ignored fields with the kept values', async () => {
    const { post } = recorder()
    await post({ runId: 'r1', status: 'completed', seq: 5, model: 'new', counts: { steps: 9 }, metadata: { k: 'new' } })
    const late = await post({
      runId: 'r1',
      status: 'running',
      seq: 2,
      model: 'old',
      counts: { steps: 4 },
      metadata: { k: 'old' },
      timings: { startedAt: NOW - 500 },
    })
    expect(late.status).toBe(200)
    expect(answerOf(late).ignored).toEqual([
      { field: 'status', reason: 'terminal', kept: 'completed' },
      { field: 'counts.steps', reason: 'lower_count', kept: 9 },
      { field: 'model', reason: 'superseded', kept: 'new' },
      { field: 'metadata.k', reason: 'superseded', kept: 'new' },
    ])
    const later = await post({ runId: 'r1', timings: { startedAt: NOW } })
    expect(answerOf(later).ignored).toEqual([
      { field: 'timings.startedAt', reason: 'later_time', kept: '2026-11-21T07:59:59.500Z' },
    ])
  })

  it('An ignored final status is listed with the one that won', async () => {
    const { post } = recorder()
    await post({ runId: 'r1', status: 'cancelled', finishReason: 'stop' })
    const answer = answerOf(
      await post({ runId: 'r1', status: 'failed', error: { type: 'x' }, timings: { endedAt: NOW } }),
    )
    expect(answer.ignored).toEqual([
      { field: 'status', reason: 'superseded', kept: 'cancelled' },
      { field: 'timings.endedAt', reason: 'superseded' },
      { field: 'error', reason: 'superseded' },
    ])
    expect(answer.run).not.toHaveProperty('error')
  })

  it('Prefer: return=minimal leaves the run out, with Preference-Applied', async () => {
    const { post } = recorder()
    for (const prefer of ['return=minimal', 'respond-async, Return = "minimal"; x=1']) {
      const result = await post(POST, { prefer })
      expect(result.headers).toEqual({ 'preference-applied': 'return=minimal' })
      expect(answerOf(result)).not.toHaveProperty('run')
    }
    for (const prefer of ['return=representation', 'return=minimalist', 'x-return=minimal']) {
      const result = await post(POST, { prefer })
      expect(result.headers).toEqual({})
      expect(answerOf(result)).toHaveProperty('run')
    }
  })

  it('Null counts as absent in optional fields, and deletes a metadata key', async () => {
    const { post } = recorder()
    const reported = { ...POST, agent: { name: 'a' }, tags: ['t'], metadata: { k: 1, l: 2 } }
    await post(reported)
    const result = await post({
      runId: 'r1',
      provider: null,
      model: null,
      status: null,
      agent: null,
      timings: { startedAt: null, endedAt: null },
      counts: { inputTokens: null, searches: null },
      usage: null,
      tags: null,
      metadata: { k: null },
    })
    expect(answerOf(result).warnings).toEqual([])
    expect(runOf(result)).toMatchObject({
      model: 'gpt-5',
      status: 'completed',
      agent: { name: 'a' },
      metadata: { l: 2 },
    })
    expect(runOf(result).metadata).toEqual({ l: 2 })
  })

  it('Null deletes a metadata key of any value, with or without seq', async () => {
    const { post } = recorder()
    const metadata = { text: 'z', number: 9, yes: true, no: false }
    const gone = { text: null, number: null, yes: null, no: null }
    await post({ runId: 'r1', metadata })
    expect(runOf(await post({ runId: 'r1', metadata: gone }))).not.toHaveProperty('metadata')
    expect(runOf(await post({ runId: 'r1', metadata }))).not.toHaveProperty('metadata')
    expect(runOf(await post({ runId: 'r1', metadata, seq: 1 })).metadata).toEqual(metadata)
  })

  it('An older post does not restore a deleted metadata key', async () => {
    const { post } = recorder()
    await post({ runId: 'r1', seq: 1, metadata: { k: 'x' } })
    await post({ runId: 'r1', seq: 2, metadata: { k: null } })
    expect(runOf(await post({ runId: 'r1', seq: 1, metadata: { k: 'x' } }))).not.toHaveProperty('metadata')
  })

  it('Names that every object inherits are plain keys', async () => {
    const { post } = recorder()
    const names = { toString: 1, hasOwnProperty: 2, constructor: 3, valueOf: 4 }
    await post({ runId: 'r1', seq: 1, counts: { steps: 1 }, metadata: { k: 1 } })
    const run = runOf(await post({ runId: 'r1', seq: 2, counts: names, metadata: names }))
    expect(run.counts).toEqual({ steps: 1, ...names })
    expect(run.metadata).toEqual({ k: 1, ...names })
  })

  it('Unknown fields are dropped with a warning', async () => {
    const answer = answerOf(await recorder().post({ runId: 'r1', prompt: 'secret', agent: { role: 'x' } }))
    expect(answer.warnings).toEqual([
      { code: 'unknown_field', pointer: '/run/prompt', detail: expect.any(String) },
      { code: 'unknown_field', pointer: '/run/agent/role', detail: expect.any(String) },
    ])
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  it('Usage of no known shape is dropped with a warning', async () => {
    const usage = { score: 5, prompt: 'secret' }
    const answer = answerOf(await recorder().post({ runId: 'r1', usage, counts: { steps: 1 } }))
    expect(answer.warnings).toEqual([{ code: 'usage_unknown', pointer: '/run/usage', detail: expect.any(String) }])
    expect(answer.run?.counts).toEqual({ steps: 1 })
    expect(JSON.stringify(answer)).not.toContain('secret')
  })

  it('An end before the start is shown as the start, with a warning', async () => {
    const { post } = recorder()
    const timings = { startedAt: NOW, endedAt: NOW - 2000 }
    const at = { code: 'clamped', pointer: '/run/timings/endedAt', detail: expect.any(String) }
    const together = await post({ runId: 'r1', status: 'completed', timings })
    expect(answerOf(together).warnings).toEqual([at])
    expect(runOf(together).timings).toEqual({
      startedAt: '2026-11-21T08:00:00.000Z',
      endedAt: '2026-11-21T08:00:00.000Z',
      durationMs: 0,
    })
    await post({ runId: 'r2', timings: { startedAt: timings.startedAt } })
    const apart = await post({ runId: 'r2', status: 'completed', timings: { endedAt: timings.endedAt } })
    expect(answerOf(apart).warnings).toEqual([at])
    expect(runOf(apart).timings).toEqual(runOf(together).timings)
    await post({ runId: 'r3', status: 'completed', timings: { endedAt: timings.endedAt } })
    const late = await post({ runId: 'r3', timings: { startedAt: timings.startedAt } })
    expect(late.status).toBe(200)
    expect(answerOf(late).warnings).toEqual([at])
    expect(runOf(late).timings).toEqual(runOf(together).timings)
    expect(answerOf(await post({ runId: 'r3', seq: 1 })).warnings).toEqual([])
  })

  it('Final fields of a post without a final status are dropped with warnings', async () => {
    const { post } = recorder()
    const ends = {
      timings: { startedAt: NOW, endedAt: NOW, durationMs: 5 },
      error: { type: 'x' },
      finishReason: 'stop',
    }
    for (const status of [undefined, 'running', 'waiting']) {
      const answer = answerOf(await post({ runId: `r-${status}`, status, ...ends }))
      expect(answer.warnings.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual([
        'not_final /run/timings/endedAt',
        'not_final /run/timings/durationMs',
        'not_final /run/error',
        'not_final /run/finishReason',
      ])
      expect(answer.run?.timings).toEqual({ startedAt: '2026-11-21T08:00:00.000Z' })
      expect(answer.run).not.toHaveProperty('error')
    }
  })

  it('Costs are exact decimals, currencies upper case and trace ids lower case', async () => {
    const run = runOf(
      await recorder().post({
        runId: 'r1',
        cost: { amount: 1.5e-7, currency: 'usd', source: 'client' },
        trace: { traceId: 'ABCDEF0123456789ABCDEF0123456789', spanId: '00000000000000AB' },
        usageByModel: [
          {
            provider: 'p',
            model: 'm',
            counts: { inputTokens: 1 },
            cost: { amount: '007.50', currency: 'EUR', source: 'local' },
          },
        ],
      }),
    )
    expect(run.cost).toEqual({ amount: '0.00000015', currency: 'USD', source: 'client' })
    expect(run.trace).toEqual({ traceId: 'abcdef0123456789abcdef0123456789', spanId: '00000000000000ab' })
    expect(run.usageByModel?.[0]?.cost?.amount).toBe('7.5')
  })

  it('waitingFor is shown only while the run waits', async () => {
    const { post } = recorder()
    expect(runOf(await post({ runId: 'r1', status: 'requires_action', waitingFor: 'approval', seq: 1 }))).toMatchObject(
      {
        status: 'waiting',
        waitingFor: 'approval',
      },
    )
    expect(runOf(await post({ runId: 'r1', status: 'running', seq: 2 }))).not.toHaveProperty('waitingFor')
  })

  it('A later post of the same status without an error keeps the error', async () => {
    const { post } = recorder()
    await post({ runId: 'r1', status: 'failed', seq: 1, error: { type: 'rate_limit' } })
    expect(runOf(await post({ runId: 'r1', status: 'failed', seq: 2 })).error).toEqual({ type: 'rate_limit' })
    expect(runOf(await post({ runId: 'r2', status: 'timeout' }))).toMatchObject({
      status: 'failed',
      error: { type: 'timeout' },
    })
  })
})

import { describe, expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { fakeClock } from '../../src/contract-tests/index.ts'
import { createRunsOnlySallyport, createSallyport, isSallyportError, type RunsOnlyOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { said } from '../support/reported.ts'

const RUN = '/api/agents/session/run'

function runsHost(options: Partial<RunsOnlyOptions> = {}, create: typeof createRunsOnlySallyport = createSallyport) {
  const clock = fakeClock()
  const auth = { verify: async () => ({ id: 'app', tenant: 'default' }) }
  const sallyport = create({ auth, store: memoryStore({ clock }), clock, logger: { log() {} }, ...options })
  const handler = toFetch(sallyport)
  const post = (path: string, body: unknown, headers: object = { authorization: 'Bearer any' }): Promise<Response> => {
    const own = { 'content-type': 'application/json', ...headers }
    return handler(new Request(`http://host${path}`, { method: 'POST', headers: own, body: JSON.stringify(body) }))
  }
  return { clock, sallyport, post, handler }
}

const run = (facts: object = {}) => ({ sessionId: 's1', run: { runId: 'r1', status: 'running', ...facts } })

describe.each([createSallyport, createRunsOnlySallyport])('a host of %o that only records runs', (create) => {
  it('A runs-only host records single runs and batches over HTTP, and reads them back', async () => {
    const { sallyport, post } = runsHost({}, create)
    await sallyport.ready()
    expect((await post(RUN, run())).status).toBe(201)
    expect((await post(`${RUN}/batch`, { runs: [run({ status: 'completed', seq: 2 })] })).status).toBe(200)
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({
      runId: 'r1',
      status: 'completed',
    })
    expect(await sallyport.sessions.get('s1')).toMatchObject({ timeline: [{ type: 'run' }] })
    expect((await sallyport.sessions.timeline('s1')).items).toHaveLength(1)
  })

  it('A runs-only host answers 404 to every dispatch', async () => {
    const { sallyport, post, handler } = runsHost({}, create)
    expect(Object.keys(sallyport)).not.toContain('dispatch')
    for (const headers of [{}, { authorization: 'Bearer any' }]) {
      const answer = await post('/api/outbound/dispatch', { recipient: 'ada', eventType: 'one' }, headers)
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found' }])
    }
    expect((await handler(new Request('http://host/api/outbound/dispatch'))).status).toBe(404)
  })

  it('The worker of a runs-only host expires stale runs, and delivers nothing', async () => {
    const { clock, sallyport, post } = runsHost({ staleAfterMs: 60_000 }, create)
    await post(RUN, run())
    clock.advance(60_001)
    expect(await sallyport.worker.runDue()).toMatchObject({ attempted: 0, sent: 0 })
    expect(await sallyport.runs.get({ sessionId: 's1', runId: 'r1' })).toMatchObject({ status: 'expired' })
    sallyport.worker.start()
    await sallyport.worker.stop()
    expect(clock.timers).toBe(0)
  })
})

describe('options of a host that only records runs', () => {
  it('Events and channels require one another, and a runs-only host refuses dispatch options', () => {
    const fault = (options: object, create?: typeof createRunsOnlySallyport) => {
      try {
        runsHost(options, create)
      } catch (error) {
        return Reflect.get(Object(error), 'problems')
      }
    }
    expect(fault({ channels: {} })).toEqual([{ field: 'events', detail: 'is required with channels' }])
    expect(fault({ events: { find: () => undefined, eventTypes: [] } })).toEqual([
      { field: 'channels', detail: 'is required with events' },
    ])
    expect(fault({ worker: {}, policyy: {} })).toEqual([
      { field: 'policyy', detail: 'is not an option; near: policy' },
      { field: 'worker', detail: 'is for dispatching: give events and channels too' },
    ])
    expect(fault({ events: {}, worker: {}, policyy: {} }, createRunsOnlySallyport)).toEqual([
      { field: 'policyy', detail: 'is not an option; near: policy' },
      { field: 'events', detail: 'is for dispatching: use createSallyport' },
      { field: 'worker', detail: 'is for dispatching: use createSallyport' },
    ])
  })
})

describe('options of recording', () => {
  /** The problems, as `field: detail`. */
  function problems(options: object): readonly string[] {
    try {
      runsHost(options)
    } catch (error) {
      if (!isSallyportError(error)) throw error
      expect(error.code).toBe('config_invalid')
      return error.problems.map(({ field, detail }) => `${field}: ${detail}`)
    }
    return []
  }

  const exporter = { export() {} }

  it('Exporters must be objects with export', () => {
    expect(problems({ exporters: [exporter] })).toEqual([])
    expect(problems({ exporters: [exporter, {}, null] })).toEqual([
      'exporters[1]: has no export; pass otelRunExporter() or an object { export(run) }',
      'exporters[2]: is null; pass otelRunExporter() or an object { export(run) }',
    ])
    expect(problems({ exporters: exporter })).toEqual(['exporters: is an object; must be a list'])
  })

  it('staleAfterMs must be an integer from a second to 366 days', () => {
    for (const staleAfterMs of [1_000, 366 * 86_400_000]) expect(problems({ staleAfterMs })).toEqual([])
    for (const staleAfterMs of [999, 366 * 86_400_000 + 1, 1_000.5, '1000', null])
      expect(problems({ staleAfterMs })).toEqual([
        `staleAfterMs: is ${said(staleAfterMs)}; must be a whole number from 1000 to 31622400000`,
      ])
  })

  it('All problems of the options of recording are reported at once', () => {
    const wrong = { exporters: [{}], staleAfterMs: 1, plugins: [{}], redactor: {} }
    expect(problems(wrong).map((problem) => problem.split(':')[0])).toEqual([
      'redactor',
      'exporters[0]',
      'staleAfterMs',
      'plugins[0]',
    ])
  })
})

import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import {
  createSallyport,
  defineEvents,
  isSallyportError,
  type Measurement,
  type SallyportStore,
} from '../../../src/index.ts'
import { statistics } from '../../../src/plugins/index.ts'
import { heartbeatRecords } from '../../../src/plugins/statistics/heartbeat-records.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { APP, recordingLogger, testAuth } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { aroundRecords } from '../../support/records.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const events = defineEvents({
  sent: { channels: { good: { text: () => 'x' } } },
  refused: { channels: { bad: { text: () => 'x' } } },
  retried: { channels: { busy: { text: () => 'x' } } },
  skipped: { channels: { good: { when: () => false } } },
  later: { delayMs: MINUTE, channels: { good: { text: () => 'x' } } },
})

interface Host {
  readonly clock: FakeClock
  readonly store: SallyportStore
}

/** A Sallyport on a store that several may share. */
function host({ clock, store }: Host = newHost(), options: object = {}) {
  const logger = recordingLogger()
  const channels = {
    good: recordingChannel(),
    bad: recordingChannel([{ outcome: 'rejected', code: 'no' }]),
    busy: recordingChannel([{ outcome: 'retry', code: 'busy' }]),
  }
  const sallyport = createSallyport({
    ...{ auth: testAuth, store, events, channels, clock, logger },
    ...options,
    plugins: [statistics()],
  })
  const dispatch = (eventType: string, tenant = 'default') =>
    sallyport.dispatch({ eventType, recipient: 'jane@example.com' } as never, { tenant })
  const record = async (run: object, sessionId = 's1'): Promise<void> => {
    const answer = await toFetch(sallyport)(
      new Request('http://127.0.0.1/api/agents/session/run', {
        method: 'POST',
        headers: { ...APP, 'content-type': 'application/json' },
        body: JSON.stringify({ sessionId, run }),
      }),
    )
    if (!answer.ok) throw new Error(await answer.text())
  }
  const now = async () => (await sallyport.stats()).buckets.at(-1)
  return { sallyport, clock, store, logger, dispatch, record, now }
}

function newHost(): Host {
  const clock = fakeClock()
  return { clock, store: memoryStore({ clock }) }
}

describe('deliveries', () => {
  it('Accepted, sent, retried, failed and skipped deliveries are counted, with their reasons', async () => {
    const { dispatch, sallyport, now } = host()
    for (const event of ['sent', 'sent', 'refused', 'retried', 'skipped']) await dispatch(event)
    await sallyport.worker.runDue()
    expect(await now()).toMatchObject({
      ...{ accepted: 5, sent: 2, retried: 1 },
      failed: { provider_rejected: 1 },
      skipped: { condition_false: 1 },
    })
  })

  it('An expired delivery counts as failed', async () => {
    const { dispatch, sallyport, clock, now } = host(newHost(), { expiresInMs: MINUTE })
    await dispatch('sent')
    clock.advance(2 * MINUTE)
    await sallyport.worker.runDue()
    expect(await now()).toMatchObject({ accepted: 0, sent: 0, failed: { expired: 1 } })
  })

  it('Latency is from acceptance, in percentiles; a deferred delivery has none', async () => {
    const { dispatch, sallyport, clock } = host()
    for (let count = 0; count < 100; count++) {
      await dispatch('sent')
      clock.advance(10)
    }
    await dispatch('later')
    clock.advance(MINUTE)
    await sallyport.worker.runDue()
    const { buckets } = await sallyport.stats({ windowMs: HOUR, stepMs: HOUR })
    const { sent, latencyMs } = buckets.at(-1) ?? {}
    expect(sent).toBe(101)
    for (const [percent, exact] of [
      ['p50', 60_500],
      ['p95', 60_950],
      ['p99', 60_990],
    ] as const)
      expect(Math.abs((latencyMs?.[percent] ?? 0) - exact) / exact).toBeLessThan(0.016)
  })

  it('A delivery that was retried by hand has no latency', async () => {
    const { dispatch, sallyport, now } = host(newHost(), {
      events: defineEvents({ sent: { channels: { turn: { text: () => 'x' } } } }),
      channels: { turn: recordingChannel([{ outcome: 'rejected', code: 'no' }, { outcome: 'sent' }]) },
    })
    await dispatch('sent')
    await sallyport.worker.runDue()
    const { items } = await sallyport.dispatches.list()
    await sallyport.dispatches.retry(items[0]?.dispatchId ?? '')
    await sallyport.worker.runDue()
    const bucket = await now()
    expect(bucket).toMatchObject({ sent: 1, failed: { provider_rejected: 1 } })
    expect(bucket).not.toHaveProperty('latencyMs')
  })
})

describe('runs', () => {
  it('Runs, their ends, tokens and cost are counted, and a correction lowers them', async () => {
    const { record, now } = host()
    const usage = {
      counts: { inputTokens: 100, outputTokens: 20 },
      cost: { amount: '0.5', currency: 'USD', source: 'client' },
    }
    await record({ runId: 'a', status: 'running' })
    await record({ runId: 'a', status: 'completed', ...usage })
    await record({ runId: 'b', status: 'failed' })
    expect(await now()).toMatchObject({
      ...{ runs: 2, ended: { completed: 1, failed: 1 }, byAgent: { tokens: 0, cost: [] } },
      byApplication: { tokens: 120, cost: [{ amount: '0.5', currency: 'USD' }] },
    })
    await record({
      runId: 'a',
      seq: 9,
      status: 'completed',
      counts: { inputTokens: 100, outputTokens: 20 },
      cost: { amount: '0.25', currency: 'USD', source: 'client' },
    })
    expect(await now()).toMatchObject({
      ...{ runs: 2, ended: { completed: 1 }, byAgent: { tokens: 0, cost: [] } },
      byApplication: { tokens: 120, cost: [{ amount: '0.25', currency: 'USD' }] },
    })
  })
})

describe('buckets', () => {
  it('Buckets are aligned, have no gaps and end with the present', async () => {
    const { sallyport, clock, dispatch } = host()
    await dispatch('sent')
    clock.advance(3 * MINUTE)
    await dispatch('sent')
    const { buckets, windowMs, stepMs } = await sallyport.stats({ windowMs: 5 * MINUTE })
    expect([windowMs, stepMs, buckets.map(({ accepted }) => accepted)]).toEqual([5 * MINUTE, MINUTE, [0, 1, 0, 0, 1]])
    const starts = buckets.map(({ startsAt }) => Date.parse(startsAt))
    expect(starts.map((at) => at % MINUTE)).toEqual([0, 0, 0, 0, 0])
    expect(new Set(starts.slice(1).map((at, index) => at - (starts[index] ?? 0)))).toEqual(new Set([MINUTE]))
    expect(clock.now() - (starts.at(-1) ?? 0)).toBeLessThan(MINUTE)
  })

  it('Minutes are kept for two days, hours for ninety, days for four hundred', async () => {
    const { sallyport, clock, dispatch } = host()
    await dispatch('sent')
    await sallyport.worker.runDue()
    const sum = async (windowMs: number, stepMs: number): Promise<number> =>
      (await sallyport.stats({ windowMs, stepMs })).buckets.reduce((all, { accepted }) => all + accepted, 0)
    clock.advance(47 * HOUR)
    expect([await sum(48 * HOUR, 2 * MINUTE), await sum(90 * DAY, 6 * HOUR)]).toEqual([1, 1])
    clock.advance(2 * HOUR)
    await dispatch('sent')
    await sallyport.worker.runDue()
    expect([await sum(48 * HOUR, 2 * MINUTE), await sum(90 * DAY, 6 * HOUR)]).toEqual([1, 2])
    clock.advance(90 * DAY)
    await dispatch('sent')
    await sallyport.worker.runDue()
    expect([await sum(90 * DAY, 6 * HOUR), await sum(400 * DAY, DAY)]).toEqual([1, 3])
  })

  it('Processes on one store add up, and one sees at once what it has not stored yet', async () => {
    const shared = newHost()
    const [one, other] = [host(shared), host(shared)]
    await one.dispatch('sent')
    await other.dispatch('sent')
    expect([(await one.now())?.accepted, (await other.now())?.accepted]).toEqual([1, 1])
    shared.clock.advance(5_000)
    await new Promise(setImmediate)
    expect([(await one.now())?.accepted, (await other.now())?.accepted]).toEqual([2, 2])
  })

  it('Tenants have counts of their own', async () => {
    const { sallyport, dispatch } = host()
    await dispatch('sent', 'one')
    const read = async (tenant: string) => (await sallyport.stats({ tenant })).buckets.at(-1)?.accepted
    expect([await read('one'), await read('other'), await read('default')]).toEqual([1, 0, 0])
  })

  it.each([
    [{ windowMs: 0 }, ['windowMs']],
    [{ windowMs: 401 * DAY, stepMs: DAY }, ['windowMs']],
    [{ windowMs: 96 * DAY, stepMs: 12 * HOUR }, ['stepMs']],
    [{ windowMs: HOUR, stepMs: 7 * MINUTE }, ['windowMs']],
    [{ windowMs: HOUR, stepMs: 90_000 }, ['stepMs']],
    [{ windowMs: 48 * HOUR, stepMs: MINUTE }, ['stepMs']],
    [{ windowMs: 72 * HOUR, stepMs: 90 * MINUTE }, ['stepMs']],
    [{ stepMs: Number.NaN, tenant: '' }, ['stepMs', 'tenant']],
  ])('stats(%j) is refused for %j', async (options, fields) => {
    const { sallyport } = host()
    const fault = await sallyport.stats(options).catch((error: unknown) => error)
    expect(isSallyportError(fault) && [fault.code, fault.problems.map(({ field }) => field).sort()]).toEqual([
      'option_invalid',
      fields,
    ])
  })

  it('GET /api/outbound/stats gives the same, and refuses wrong parameters', async () => {
    const { sallyport, dispatch } = host()
    await dispatch('sent')
    const get = (query: string): Promise<Response> =>
      toFetch(createReader(sallyport))(new Request(`http://127.0.0.1/api/outbound/stats${query}`, { headers: APP }))
    const answer = await get('?window=2h&step=15m')
    expect(await answer.json()).toEqual(await sallyport.stats({ windowMs: 2 * HOUR, stepMs: 15 * MINUTE }))
    for (const [query, pointer] of [
      ['?window=soon', '/window'],
      ['?window=999d', '/window'],
      ['?step=1s', '/step'],
    ]) {
      const refused = await get(query ?? '')
      expect([refused.status, await refused.json()]).toEqual([
        422,
        expect.objectContaining({
          code: 'query_invalid',
          errors: expect.arrayContaining([expect.objectContaining({ pointer })]),
        }),
      ])
    }
  })
})

/** Lets the application read. */
function createReader<Given extends { readonly endpoints: object }>(sallyport: Given): Given {
  const endpoints = {
    ...sallyport.endpoints,
    authenticate: async () => ({ id: 'app', tenant: 'default', operations: ['read'] }),
  }
  return { ...sallyport, endpoints }
}

describe('due now and workers', () => {
  it('Due deliveries are counted with the age of the oldest', async () => {
    const { sallyport, dispatch, clock } = host()
    expect((await sallyport.stats()).due).toEqual({ count: 0, isMore: false })
    await dispatch('sent')
    clock.advance(1_500)
    await dispatch('sent')
    await dispatch('later')
    await dispatch('sent', 'other')
    expect((await sallyport.stats()).due).toEqual({ count: 2, isMore: false, oldestMs: 1_500 })
    await sallyport.worker.runDue()
    expect((await sallyport.stats()).due).toEqual({ count: 0, isMore: false })
  })

  it('A started worker is alive until it stops; one that dies, for 30 seconds', async () => {
    const shared = newHost()
    const [watching, stopping] = [host(shared), host(shared)]
    const alive = async () => (await watching.sallyport.stats()).workersAlive
    stopping.sallyport.worker.start()
    await new Promise(setImmediate)
    expect(await alive()).toBe(1)
    for (let seconds = 0; seconds < 120; seconds += 10) {
      shared.clock.advance(10_000)
      await new Promise(setImmediate)
    }
    expect(await alive()).toBe(1)
    await stopping.sallyport.worker.stop()
    expect(await alive()).toBe(0)
    await heartbeatRecords(shared.store).record({ workerId: 'dies', aliveForMs: 30_000 })
    shared.clock.advance(29_999)
    expect(await alive()).toBe(1)
    shared.clock.advance(1)
    expect(await alive()).toBe(0)
  })

  it('A cron job that calls runDue every minute is alive', async () => {
    const { sallyport, clock } = host()
    await sallyport.worker.runDue()
    clock.advance(120_000)
    expect((await sallyport.stats()).workersAlive).toBe(1)
    clock.advance(20_000)
    expect((await sallyport.stats()).workersAlive).toBe(0)
  })
})

describe('faults', () => {
  it('A store that fails loses no count, does not disturb a dispatch, and onError is told', async () => {
    const shared = newHost()
    let isDown = true
    const store = aroundRecords(shared.store, 'statistics', {
      change: (run) => (isDown ? Promise.reject(new Error('down')) : run()),
    })
    const told: unknown[] = []
    const { sallyport, dispatch, logger, now } = host(
      { ...shared, store },
      { hooks: { onError: (error: unknown) => told.push(error) } },
    )
    expect((await dispatch('sent')).status).toBe(202)
    await sallyport.worker.runDue()
    expect(logger.lines.map(({ event }) => event)).toContain('statistics.write_failed')
    expect(told).toHaveLength(1)
    isDown = false
    await sallyport.worker.runDue()
    expect((await host(shared).now())?.accepted).toBe(1)
    expect((await now())?.accepted).toBe(1)
  })

  it('A listener gets every measurement until it is ended; one that throws is logged', async () => {
    const { sallyport, dispatch, logger } = host()
    const seen: Measurement[] = []
    sallyport.onMeasurement(() => {
      throw new Error('broken')
    })
    const end = sallyport.onMeasurement((measurement) => seen.push(measurement))
    await dispatch('sent')
    await sallyport.worker.runDue()
    expect(seen).toEqual([
      { of: 'accepted', tenant: 'default', eventType: 'sent' },
      expect.objectContaining({ of: 'delivery', channel: 'good', result: 'sent', latencyMs: 0 }),
    ])
    expect(logger.lines.filter(({ event }) => event === 'hook.threw')).toHaveLength(2)
    end()
    await dispatch('sent')
    expect(seen).toHaveLength(2)
    expect(() => sallyport.onMeasurement('log' as never)).toThrow('must be a function')
  })
})

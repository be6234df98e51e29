import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { SallyportOptions } from '../../../src/index.ts'
import { statistics } from '../../../src/plugins/index.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { type Composed, composed } from '../../compose/composed.ts'
import { APP, SESSION } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { aroundRecords } from '../../support/records.ts'

const HOUR = 3_600_000

const events = defineEvents({
  sent: { channels: { a: {} } },
  both: { channels: { a: {}, b: { when: () => false } } },
})
const JANE = { recipient: 'jane@example.com' } as const
const SENT = { ...JANE, eventType: 'sent' } as const

type App = Composed<unknown, readonly [ReturnType<typeof statistics>]>

function host(options: Partial<Omit<SallyportOptions<unknown>, 'clock'>> = {}): App {
  const clock = fakeClock()
  return composed(events as EventCatalog<unknown>, {
    clock,
    store: memoryStore({ clock }),
    ...options,
    plugins: [statistics()],
  })
}

async function last({ sallyport }: Pick<App, 'sallyport'>) {
  const { buckets } = await sallyport.stats({ windowMs: HOUR, stepMs: HOUR })
  return buckets.at(-1)
}

async function post({ sallyport }: App, run: object, by: Readonly<Record<string, string>>): Promise<number> {
  const answer = await toFetch(sallyport)(
    new Request('http://host.test/api/agents/session/run', {
      method: 'POST',
      headers: { ...by, 'content-type': 'application/json' },
      body: JSON.stringify({ sessionId: 's1', run }),
    }),
  )
  return answer.status
}

describe('reading statistics', () => {
  it('Counts that are stored during a read are counted once', async () => {
    for (const isBefore of [true, false]) {
      const clock = fakeClock()
      const store = memoryStore({ clock })
      const app: App = composed(events as EventCatalog<unknown>, {
        clock,
        plugins: [statistics()],
        store: aroundRecords(store, 'statistics', {
          async read(run) {
            if (isBefore) await app.sallyport.worker.runDue()
            const page = await run()
            if (!isBefore) await app.sallyport.worker.runDue()
            return page
          },
        }),
      })
      await app.sallyport.dispatch(SENT)
      expect(await last(app)).toMatchObject({ accepted: 1 })
      expect(await last(app)).toMatchObject({ accepted: 1, sent: 1 })
    }
  })

  it.each(['listRecords', 'countDue', 'countUnexpired'] as const)('stats throws the error of %s', async (method) => {
    const down = (): Promise<never> => Promise.reject(new Error('it is down'))
    const { sallyport } = host({ store: { ...memoryStore(), [method]: down } })
    await expect(sallyport.stats()).rejects.toThrow('it is down')
  })

  it('More than 10,000 due deliveries are counted up to there', async () => {
    const asked: number[] = []
    const countDue = async ({ limit }: { readonly limit: number }) => {
      asked.push(limit)
      return { count: limit, oldestMs: 5 }
    }
    const { sallyport } = host({ store: { ...memoryStore(), countDue } })
    expect((await sallyport.stats()).due).toEqual({ count: 10_000, isMore: true, oldestMs: 5 })
    expect(asked).toEqual([10_001])
  })

  it('A dispatch of two channels is accepted once, and a replay is not counted', async () => {
    const app = host()
    const both = { ...JANE, eventType: 'both' }
    for (let times = 0; times < 2; times++) await app.sallyport.dispatch(both, { idempotencyKey: 'k1' })
    await app.sallyport.worker.runDue()
    expect(await last(app)).toMatchObject({ accepted: 1, sent: 1, skipped: { condition_false: 1 } })
  })

  it('A delivery that expired before its first attempt has no latency after a retry by hand', async () => {
    const app = host({ expiresInMs: 60_000 })
    const dispatched = await app.sallyport.dispatch(SENT)
    app.clock.advance(24 * HOUR)
    await app.sallyport.worker.runDue()
    await app.sallyport.dispatches.retry(dispatched.ok ? dispatched.body.dispatchId : '')
    await app.sallyport.worker.runDue()
    const bucket = await last(app)
    expect(bucket).toMatchObject({ failed: { expired: 1 }, sent: 1 })
    expect(bucket).not.toHaveProperty('latencyMs')
  })

  it('Tokens and cost that only an agent reported are counted', async () => {
    const app = host()
    const usage = {
      counts: { inputTokens: 90, outputTokens: 10 },
      cost: { amount: '0.2', currency: 'EUR', source: 'client' },
    }
    expect(await post(app, { runId: 'r1', status: 'completed', ...usage }, SESSION)).toBe(201)
    const total = await last(app)
    expect(total).toMatchObject({ runs: 1, ended: { completed: 1 } })
    expect([total?.byApplication, total?.byAgent]).toEqual([
      { tokens: 0, cost: [] },
      { tokens: 100, cost: [{ amount: '0.2', currency: 'EUR' }] },
    ])
  })

  it("What an application meters later is counted as its own, and the agent's is taken back", async () => {
    const app = host()
    const cost = (amount: string) => ({ amount, currency: 'EUR', source: 'client' })
    await post(app, { runId: 'r1', counts: { inputTokens: 100 }, cost: cost('0.2') }, SESSION)
    await post(app, { runId: 'r2', counts: { inputTokens: 5 } }, SESSION)
    await post(app, { runId: 'r1', counts: { inputTokens: 70 }, cost: cost('0.1') }, APP)
    const total = await last(app)
    expect([total?.byApplication, total?.byAgent]).toEqual([
      { tokens: 70, cost: [{ amount: '0.1', currency: 'EUR' }] },
      { tokens: 5, cost: [] },
    ])
  })

  it('What one token claims does not reach what applications metered', async () => {
    const app = host()
    const most = Number.MAX_SAFE_INTEGER
    for (const runId of ['a', 'b', 'c']) {
      await post(app, { runId, counts: { inputTokens: most } }, SESSION)
      await post(app, { runId: `${runId}-metered`, counts: { inputTokens: 1 } }, APP)
    }
    const total = await last(app)
    expect([total?.byApplication, total?.byAgent]).toEqual([
      { tokens: 3, cost: [] },
      { tokens: most, cost: [], inexact: true },
    ])
  })

  it('A run of both sources is one run, whoever posts first', async () => {
    const app = host()
    for (const [runId, first, second] of [
      ['a', APP, SESSION],
      ['b', SESSION, APP],
    ] as const) {
      await post(app, { runId }, first)
      await post(app, { runId, status: 'completed' }, second)
    }
    expect(await last(app)).toMatchObject({ runs: 2, ended: { completed: 2 } })
  })

  it('A run whose end an application reports after an agent ends once', async () => {
    const app = host()
    await post(app, { runId: 'r1', status: 'failed', seq: 1 }, SESSION)
    await post(app, { runId: 'r1', status: 'completed', seq: 2 }, APP)
    expect(await last(app)).toMatchObject({ runs: 1, ended: { failed: 1 } })
  })
})

describe('onMeasurement', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken')
      },
    ],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('A listener that %s is logged, onError is told, and nothing is lost', async (_, listener) => {
    const told: unknown[] = []
    const app = host({ hooks: { onError: (error, { operation }) => told.push([error, operation]) } })
    app.sallyport.onMeasurement(() => listener() as undefined)
    expect((await app.sallyport.dispatch(SENT)).status).toBe(202)
    await new Promise(setImmediate)
    expect(app.logger.lines.filter(({ event }) => event === 'hook.threw')).toMatchObject([
      { level: 'error', fields: { hook: 'onMeasurement', message: 'broken' } },
    ])
    expect(told).toEqual([[new Error('broken'), 'hook']])
    expect(await last(app)).toMatchObject({ accepted: 1 })
  })
})

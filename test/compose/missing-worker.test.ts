import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { type Composed, composed } from './composed.ts'

/** The timer that stores statistics. */

const events = defineEvents({
  sent: { channels: { a: {} } },
  later: { delayMs: 60_000, channels: { a: {} } },
  skipped: { channels: { a: { when: () => false } } },
})
const JANE = { recipient: 'jane@example.com' } as const
const SENT = { ...JANE, eventType: 'sent' } as const

const settled = (): Promise<void> => new Promise(setImmediate)

async function pass({ clock }: Pick<Composed<unknown>, 'clock'>, ms: number): Promise<void> {
  clock.advance(ms)
  await settled()
}

const missing = ({ logger }: Pick<Composed<unknown>, 'logger'>) =>
  logger.lines.filter(({ event }) => event === 'worker.missing')

describe('a missing worker', () => {
  it('worker.missing is logged once, ten seconds after the first due event was accepted', async () => {
    const app = composed(events)
    await app.sallyport.dispatch(SENT)
    await pass(app, 9_999)
    expect(missing(app)).toEqual([])
    await pass(app, 1)
    const detail = expect.stringMatching(/sallyport\.worker\.start\(\).*runDue\(\)/)
    expect(missing(app)).toEqual([{ level: 'warn', event: 'worker.missing', fields: { dispatchId: 'dsp_1', detail } }])
    await app.sallyport.dispatch(SENT)
    await pass(app, 60_000)
    expect(missing(app)).toHaveLength(1)
    expect(app.clock.timers).toBe(0)
  })

  it('worker.missing is logged for another dispatch when the first is absent or cannot be read', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    let reads = 0
    const findDispatch: typeof store.findDispatch = async (...args) => {
      reads++
      if (reads === 1) throw new Error('down')
      return reads === 2 ? undefined : store.findDispatch(...args)
    }
    const app = composed(events, { clock, store: { ...store, findDispatch } })
    for (let round = 1; round <= 3; round++) {
      await app.sallyport.dispatch(SENT)
      await pass(app, 10_000)
      expect(missing(app)).toHaveLength(round === 3 ? 1 : 0)
    }
  })
})

describe('no missing worker', () => {
  it.each<[string, (app: Composed<unknown>) => unknown]>([
    ['started', ({ sallyport }) => sallyport.worker.start()],
    ['run', ({ sallyport }) => sallyport.worker.runDue()],
    ['run by a transport after the answer', ({ sallyport }) => sallyport.endpoints.deliver()],
  ])('worker.missing is not logged if the worker of this process was %s', async (_, work) => {
    for (const isBefore of [true, false]) {
      const app = composed(events)
      if (isBefore) await work(app as Composed<unknown>)
      await app.sallyport.dispatch(SENT)
      if (!isBefore) await work(app as Composed<unknown>)
      await app.sallyport.worker.stop()
      await pass(app, 60_000)
      expect(missing(app)).toEqual([])
      expect(app.clock.timers).toBe(0)
    }
  })

  it('worker.missing is never logged after a worker of another process has claimed', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const app = composed(events, { clock, store })
    const other = composed(events, { clock, store })
    await app.sallyport.dispatch(SENT)
    await pass(app, 5_000)
    await other.sallyport.worker.runDue()
    await pass(app, 5_000)
    await app.sallyport.dispatch(SENT)
    await pass(app, 60_000)
    expect(missing(app)).toEqual([])
    expect(clock.timers).toBe(0)
  })

  it('worker.missing is not logged if another process requeued a delivery for lack of its channel', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const app = composed(events, { clock, store })
    await app.sallyport.dispatch(SENT)
    const [claimed] = (await store.claim({ limits: { a: 1 }, leaseMs: 1_000, busy: [] })).deliveries
    const { deliveryId = '', fence = '' } = claimed ?? {}
    await store.settle({ deliveryId, fence, to: 'queued', delayMs: 60_000 })
    await pass(app, 10_000)
    expect(missing(app)).toEqual([])
  })

  it.each(['later', 'skipped'] as const)(
    'worker.missing is not logged for a dispatch that is not due at once: %s',
    async (eventType) => {
      const app = composed(events)
      await app.sallyport.dispatch({ ...JANE, eventType })
      expect(app.clock.timers).toBe(0)
      await pass(app, 120_000)
      expect(missing(app)).toEqual([])
    },
  )

  it('worker.missing is not logged in sandbox mode, or for a call with a delay', async () => {
    const sandbox = composed(events, { sandbox: true })
    await sandbox.sallyport.dispatch(SENT)
    const app = composed(events)
    await app.sallyport.dispatch(SENT, { delayMs: 60_000 })
    for (const each of [sandbox, app]) {
      await pass(each, 120_000)
      expect(missing(each)).toEqual([])
    }
  })
})

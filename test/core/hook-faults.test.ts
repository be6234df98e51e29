import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryEvent, Hooks } from '../../src/core/hooks.ts'
import { composed } from '../compose/composed.ts'
import { withoutStrayRejections } from '../support/stray-rejections.ts'

const CANARY = 'canary-93bd'
const JANE = { recipient: 'jane@example.com' } as const
const SENT = { ...JANE, eventType: 'sent' } as const

const events = defineEvents({
  sent: { channels: { a: {} } },
  mixed: { channels: { a: {}, b: { when: () => false }, c: { text: () => fail() } } },
})

/** Runs work that was not awaited. */
const settled = (): Promise<void> => new Promise(setImmediate)

describe('a hook', () => {
  const all = (hook: () => unknown): Hooks => ({ onAccepted: hook, onSent: hook, onFailed: hook, onSkipped: hook })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new RangeError(CANARY)
      },
    ],
    ['rejects', async () => Promise.reject(new RangeError(CANARY))],
  ])('A hook that %s changes no result and is logged with its message', async (_, hook) => {
    await withoutStrayRejections(async () => {
      const { sallyport, logger } = composed(events, { hooks: all(hook) })
      const { sallyport: quiet } = composed(events)
      const event = { ...JANE, eventType: 'mixed' } as const
      const answer = await sallyport.dispatch(event)
      expect(answer).toEqual(await quiet.dispatch(event))
      expect(answer).toMatchObject({ status: 202 })
      await settled()
      expect(await sallyport.worker.runDue()).toMatchObject({ attempted: 1, sent: 1 })
      await settled()
      expect(await sallyport.dispatches.get('dsp_1')).toMatchObject({ deliveries: [{ status: 'sent' }, {}, {}] })
      const threw = logger.lines.filter((line) => line.event === 'hook.threw')
      expect(threw).toEqual(
        ['onAccepted', 'onSkipped', 'onFailed', 'onSent'].map((name) => ({
          level: 'error',
          event: 'hook.threw',
          fields: expect.objectContaining({ hook: name, dispatchId: 'dsp_1', cause: 'RangeError', message: CANARY }),
        })),
      )
      expect(JSON.stringify([answer, await sallyport.dispatches.list()])).not.toContain(CANARY)
    })
  })

  it('A hook that changes its event changes neither the answer nor the stored dispatch', async () => {
    const mutate = (event: object): void => {
      for (const value of Object.values(event)) if (Array.isArray(value)) value.length = 0
      Object.assign(event, { status: 'spoilt', deliveries: 'spoilt' })
    }
    const { sallyport } = composed(events, { hooks: { onAccepted: mutate, onSkipped: mutate } })
    const { sallyport: quiet } = composed(events)
    const event = { ...JANE, eventType: 'mixed' } as const
    expect(await sallyport.dispatch(event)).toEqual(await quiet.dispatch(event))
    await settled()
    expect(await sallyport.dispatches.get('dsp_1')).toEqual(await quiet.dispatches.get('dsp_1'))
  })

  it('A hook that never ends delays no answer, and a worker by ten seconds at most', async () => {
    const { sallyport, clock, logger } = composed(events, { hooks: all(() => new Promise(() => {})) })
    expect(await sallyport.dispatch(SENT)).toMatchObject({ status: 202 })
    const running = sallyport.worker.runDue()
    await settled()
    const slow = () => logger.lines.filter(({ event }) => event === 'hook.slow').map(({ fields }) => fields.hook)
    clock.advance(9_999)
    await settled()
    expect(slow()).toEqual([])
    clock.advance(1)
    expect(await running).toMatchObject({ sent: 1 })
    expect(slow()).toEqual(['onAccepted', 'onSent'])
  })

  it('A hook that ends in time leaves no timer behind', async () => {
    const { sallyport, clock } = composed(events, { hooks: all(async () => {}) })
    await sallyport.dispatch(SENT)
    await sallyport.worker.runDue()
    await settled()
    expect(clock.timers).toBe(0)
  })

  it('A hook may return a lazy query that runs when it is awaited', async () => {
    let ran = 0
    const query = {
      // biome-ignore lint/suspicious/noThenProperty: query builders are thenables
      then(resolve: () => void, reject: (reason: unknown) => void): void {
        ran += 1
        if (ran > 1) reject(new RangeError(CANARY))
        else resolve()
      },
    }
    const { sallyport, logger } = composed(events, { hooks: { onAccepted: () => query } })
    await sallyport.dispatch(SENT)
    await settled()
    expect([ran, logger.lines]).toEqual([1, []])
    await sallyport.dispatch(SENT)
    await settled()
    expect(logger.lines).toMatchObject([{ event: 'hook.threw', fields: { cause: 'RangeError' } }])
  })

  it('A hook may be a method that uses its object', async () => {
    const hooks = {
      seen: [] as (string | undefined)[],
      onSkipped({ reason }: DeliveryEvent) {
        this.seen.push(reason)
      },
    }
    const { seen, ...own } = hooks
    const bound: Hooks = Object.assign(Object.create({ seen }), own)
    const { sallyport } = composed(events, { hooks: bound })
    await sallyport.dispatch({ ...JANE, eventType: 'mixed' })
    await settled()
    expect(seen).toEqual(['condition_false'])
  })
})

function fail(): never {
  throw new Error('no')
}

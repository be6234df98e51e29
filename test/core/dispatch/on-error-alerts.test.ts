import { describe, expect, it } from 'vitest'
import type { ErrorContext } from '../../../src/core/answers/report-fault.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed } from '../../compose/composed.ts'
import { handled } from '../../support/handled.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'

const fail = (): never => {
  throw new RangeError('down')
}
const events = defineEvents({ alert: { channels: { a: {} } }, condition: { channels: { a: { when: fail } } } })
const HOST = { id: 'x', tenant: 'default' }
const RECIPIENT = 'ops@example.com'

const settled = (): Promise<void> => new Promise(setImmediate)

describe('an onError that dispatches an alert', () => {
  const event = { eventType: 'alert', recipient: RECIPIENT } as const
  type Alert = () => Promise<unknown>

  /** A host whose store is down; `calls` counts calls of `onError`, `tries` those of the store. */
  function alerting(onError: (alert: Alert) => unknown) {
    const counted = { calls: 0, tries: 0 }
    const accept = async () => {
      counted.tries++
      return fail()
    }
    const store = { ...memoryStore(), accept }
    const alert: Alert = () => sallyport.dispatch(event)
    // The bound ends the test if the implementation loops.
    const hooks = { onError: () => (++counted.calls > 50 ? undefined : onError(alert)) }
    const { sallyport, clock } = composed(events, { store, hooks })
    const request = () => handled(sallyport.endpoints, 'dispatch', HOST, { headers: {}, body: event })
    return { counted, sallyport, clock, request }
  }

  it.each<[string, (alert: Alert) => unknown]>([
    ['at once', (alert) => alert()],
    ['later', async (alert) => settled().then(alert)],
    ['without waiting', (alert) => void alert()],
  ])('An onError that alerts %s alerts once per error, and not about a refused alert', async (_, onError) => {
    await withoutStrayRejections(async () => {
      const { counted, request } = alerting(onError)
      const answers = await Promise.all([request(), request(), request()])
      expect(answers.map(({ status }) => status)).toEqual([503, 503, 503])
      for (let turn = 0; turn < 10; turn++) await settled()
      expect(counted).toEqual({ calls: 3, tries: 6 })
      await request()
      for (let turn = 0; turn < 10; turn++) await settled()
      expect(counted).toEqual({ calls: 4, tries: 8 })
    })
  })

  it('An onError that hangs receives errors of the host’s own calls again after ten seconds', async () => {
    const { counted, sallyport, clock } = alerting(() => new Promise(() => {}))
    for (const [ms, calls] of [
      [0, 1],
      [9_999, 1],
      [1, 2],
    ] as const) {
      clock.advance(ms)
      await sallyport.dispatch(event)
      expect(counted.calls).toBe(calls)
    }
  })

  it('An onError that retries is not called for the failure of its retry', async () => {
    const seen: unknown[] = []
    const hooks = {
      async onError(_: unknown, { dispatchId = '' }: ErrorContext): Promise<unknown> {
        await settled()
        // The bound ends the test if the implementation loops.
        return seen.push(dispatchId) > 50 ? undefined : sallyport.dispatches.retry(dispatchId)
      },
    }
    const { sallyport } = composed(events, { hooks })
    await sallyport.dispatch({ eventType: 'condition', recipient: RECIPIENT })
    for (let turn = 0; turn < 10; turn++) await settled()
    expect(seen).toEqual(['dsp_1'])
  })
})

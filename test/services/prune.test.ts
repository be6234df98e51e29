import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { SallyportError } from '../../src/errors.ts'
import { composed, took } from '../compose/composed.ts'

const events = defineEvents({ one: { channels: { a: {} } }, late: { delayMs: 60_000, channels: { a: {} } } })
const JANE = { recipient: 'jane@example.com' } as const

describe('pruning dispatches', () => {
  it('dispatches.prune removes old dispatches, except those that may still send', async () => {
    const { sallyport, clock } = composed(events)
    const { dispatchId: old } = took(await sallyport.dispatch({ ...JANE, eventType: 'one' }))
    const { dispatchId: open } = took(await sallyport.dispatch({ ...JANE, eventType: 'late' }))
    await sallyport.worker.runDue()
    clock.advance(1_000)
    const { dispatchId: young } = took(await sallyport.dispatch({ ...JANE, eventType: 'one' }))
    await sallyport.worker.runDue()
    expect(await sallyport.dispatches.prune({ olderThan: 1_000 })).toEqual({ pruned: 0 })
    expect(await sallyport.dispatches.prune({ olderThan: 999 })).toEqual({ pruned: 1 })
    expect(await sallyport.dispatches.get(old)).toBeUndefined()
    const left = (await sallyport.dispatches.list()).items.map(({ dispatchId }) => dispatchId)
    expect(left).toEqual([young, open])
  })

  it('dispatches.prune removes in batches until none is left, and yields to the event loop between them', async () => {
    const { sallyport, clock } = composed(events)
    for (let count = 0; count < 1_200; count++) await sallyport.dispatch({ ...JANE, eventType: 'one' })
    await sallyport.worker.runDue()
    clock.advance(1)
    const pruned = sallyport.dispatches.prune({ olderThan: 0 })
    const turns: number[] = []
    const turn = async (): Promise<void> => {
      for (let left = 5; left > 0; left--) {
        await new Promise(setImmediate)
        turns.push(clock.timers)
        clock.advance(0)
      }
    }
    await turn()
    expect(await pruned).toEqual({ pruned: 1_200 })
    expect(turns.filter((timers) => timers > 0)).toHaveLength(2)
  })

  it('dispatches.prune is limited to a tenant if one is given', async () => {
    const { sallyport, clock } = composed(events)
    for (const tenant of ['t1', 't2']) await sallyport.dispatch({ ...JANE, eventType: 'one' }, { tenant })
    await sallyport.worker.runDue()
    clock.advance(1)
    expect(await sallyport.dispatches.prune({ olderThan: 0, tenant: 't1' })).toEqual({ pruned: 1 })
    expect((await sallyport.dispatches.list({ tenant: 't1' })).items).toEqual([])
    expect((await sallyport.dispatches.list({ tenant: 't2' })).items).toHaveLength(1)
  })

  it('dispatches.prune keeps idempotency keys: a replay gives the same answer', async () => {
    const { sallyport, clock } = composed(events)
    const event = { ...JANE, eventType: 'one' } as const
    const first = took(await sallyport.dispatch(event, { idempotencyKey: 'k' }))
    await sallyport.worker.runDue()
    clock.advance(1)
    await sallyport.dispatches.prune({ olderThan: 0 })
    const again = took(await sallyport.dispatch(event, { idempotencyKey: 'k' }))
    expect(again).toEqual({ ...first, duplicate: true })
  })

  it('dispatches.prune refuses wrong options', async () => {
    const { sallyport } = composed(events)
    for (const options of [{}, { olderThan: -1 }, { olderThan: 1, tenant: '' }, { olderThan: 1, before: 2 }]) {
      const refused = await sallyport.dispatches.prune(options as never).catch((error: unknown) => error)
      expect(refused).toBeInstanceOf(SallyportError)
      expect(refused).toMatchObject({ code: 'option_invalid' })
    }
  })
})

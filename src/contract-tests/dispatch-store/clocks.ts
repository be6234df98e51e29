import { equal, ok } from '../assertions.ts'
import { acceptance, HOUR, keyed, MINUTE, skipped, TENANT } from './samples.ts'
import { between, type DispatchCase, dispatchCases, type StoreHarness, timed } from './store-harness.ts'

/** Ids from hosts with wrong clocks: the dispatch that was accepted first sorts last. */
const IDS = ['z-ahead', 'm-right', 'a-behind']

/** A host that sends its own `createdAt`, as older versions may. */
async function acceptFrom({ store, now }: StoreHarness, dispatchId: string, wrongByMs: number): Promise<void> {
  const { dispatch, ...rest } = acceptance(dispatchId, keyed(dispatchId))
  await store.accept({ ...rest, dispatch: Object.assign({ createdAt: now() + wrongByMs }, dispatch) })
}

export const clockCases: readonly DispatchCase[] = dispatchCases([], {
  'createdAt is the time of the store, not of its host': async (t) => {
    for (const wrongByMs of [HOUR, 0, -HOUR]) {
      const id = `wrong by ${wrongByMs}`
      const { from, to } = await timed(t, () => acceptFrom(t, id, wrongByMs))
      const { createdAt } = await t.found(id)
      between(createdAt, from, to, `createdAt of a dispatch from a host whose clock is ${id}`)
      const { answer } = (await t.other.recall(TENANT, id)) ?? {}
      equal(answer?.createdAt, new Date(createdAt).toISOString(), 'the stored answer has the same createdAt')
      await t.advance(MINUTE)
    }
  },
  'listDispatches is ordered by acceptance, whatever the clocks of hosts and the ids': async (t) => {
    const begin = t.now()
    for (const [at, id] of IDS.entries()) {
      await acceptFrom(t, id, (1 - at) * HOUR)
      await t.advance(MINUTE)
    }
    for (const limit of [1, 2, 100]) {
      equal(await t.list({ first: 'oldest', limit }), IDS, `oldest first, by ${limit}`)
      equal(await t.list({ limit }), IDS.toReversed(), `newest first, by ${limit}`)
    }
    equal(
      await t.list({ since: begin - MINUTE, until: t.now() + MINUTE }),
      IDS.toReversed(),
      'the dispatches within the span',
    )
    equal(await t.list({ until: begin - MINUTE / 2 }), [], 'the dispatches before the span')
    const [, second = ''] = IDS
    const { createdAt } = await t.found(second)
    equal(await t.list({ since: createdAt, first: 'oldest' }), IDS.slice(1), 'since the second')
    equal(await t.list({ until: createdAt }), IDS.slice(0, 1), 'until the second')
  },
  'the age of a dispatch is measured by the clock of the store': async (t) => {
    for (const [at, id] of IDS.entries()) {
      const { dispatch, ...rest } = acceptance(id, { deliveries: [skipped(id)] })
      const createdAt = t.now() + (1 - at) * 9 * HOUR
      await t.store.accept({ ...rest, dispatch: Object.assign({ createdAt }, dispatch) })
      await t.advance(HOUR)
    }
    const removal = { acceptedForMs: HOUR + MINUTE, limit: 100 }
    equal(await t.store.removeDispatches(removal), 2)
    equal(await t.list(), IDS.slice(2))
  },
  'attempts begin and end in order, by the clock of the store': async (t) => {
    await t.accept('1')
    const spans: { readonly from: number; readonly to: number }[] = []
    for (const delayMs of [0, MINUTE, 0]) {
      const { from, to } = await timed(t, async () => {
        const { deliveryId, fence } = await t.claimOne()
        const attempt = { outcome: 'retry', code: 'busy' } as const
        await t.store.settle({ deliveryId, fence, to: 'queued', delayMs, attempt })
      })
      spans.push({ from, to })
      await t.advance(2 * MINUTE)
    }
    const { attemptLog } = await t.only('1')
    equal(attemptLog.length, spans.length)
    let last = 0
    for (const [at, { startedAt, endedAt = 0 }] of attemptLog.entries()) {
      const { from = 0, to = 0 } = spans[at] ?? {}
      ok(
        startedAt >= last && endedAt >= startedAt,
        `an attempt begins after the one before, and ends after it began: ${last}, ${startedAt}, ${endedAt}`,
      )
      between(startedAt, from, to, 'startedAt')
      between(endedAt, from, to + MINUTE, 'endedAt')
      last = endedAt
    }
  },
})

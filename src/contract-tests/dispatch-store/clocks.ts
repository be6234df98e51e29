import { equal, ok } from '../assertions.ts'
import { acceptance, HOUR, keyed, MINUTE, skipped, TENANT } from './samples.ts'
import { between, type DispatchCase, dispatchCases, type StoreHarness, timed } from './store-harness.ts'

/** Ids as hosts give them whose clocks are wrong: in the order of the alphabet, what was accepted first comes last. */
const IDS = ['z-ahead', 'm-right', 'a-behind']

/** Accepts what a host hands in that believes it to be another time, as an older version of it may say. */
async function acceptFrom({ store, now }: StoreHarness, dispatchId: string, wrongByMs: number): Promise<void> {
  const { dispatch, ...rest } = acceptance(dispatchId, keyed(dispatchId))
  await store.accept({ ...rest, dispatch: Object.assign({ createdAt: now() + wrongByMs }, dispatch) })
}

/** Records are dated by the store's clock, whatever its hosts believe. */
export const clockCases: readonly DispatchCase[] = dispatchCases([], {
  'a dispatch is dated by the clock of the store, and not by that of its host': async (t) => {
    for (const wrongByMs of [HOUR, 0, -HOUR]) {
      const id = `wrong by ${wrongByMs}`
      const { from, to } = await timed(t, () => acceptFrom(t, id, wrongByMs))
      const { createdAt } = await t.found(id)
      between(createdAt, from, to, `when it was accepted by a host whose clock is ${id}`)
      const { answer } = (await t.other.recall(TENANT, id)) ?? {}
      equal(answer?.createdAt, new Date(createdAt).toISOString(), 'what was answered says the same')
      await t.advance(MINUTE)
    }
  },
  'a list is in the order of acceptance, whatever hosts believe and however ids sort': async (t) => {
    const begin = t.now()
    for (const [at, id] of IDS.entries()) {
      await acceptFrom(t, id, (1 - at) * HOUR)
      await t.advance(MINUTE)
    }
    for (const limit of [1, 2, 100]) {
      equal(await t.list({ first: 'oldest', limit }), IDS, `oldest first, by ${limit}`)
      equal(await t.list({ limit }), IDS.toReversed(), `newest first, by ${limit}`)
    }
    equal(await t.list({ since: begin - MINUTE, until: t.now() + MINUTE }), IDS.toReversed(), 'within this time')
    equal(await t.list({ until: begin - MINUTE / 2 }), [], 'before it')
    const [, second = ''] = IDS
    const { createdAt } = await t.found(second)
    equal(await t.list({ since: createdAt, first: 'oldest' }), IDS.slice(1), 'from the second on')
    equal(await t.list({ until: createdAt }), IDS.slice(0, 1), 'before the second')
  },
  'how old a dispatch is says the clock of the store': async (t) => {
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
  'an attempt ends no sooner than it began, and the next begins no sooner than that': async (t) => {
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
      ok(startedAt >= last && endedAt >= startedAt, `from ${startedAt} to ${endedAt}, after ${last}`)
      between(startedAt, from, to, 'when it began')
      between(endedAt, from, to + MINUTE, 'when it ended')
      last = endedAt
    }
  },
})

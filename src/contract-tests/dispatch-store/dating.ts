import { equal, ok } from '../assertions.ts'
import { walk } from './reading.ts'
import { acceptance, HOUR, keyed, MINUTE, skipped, TENANT } from './samples.ts'
import { between, contractCase, type DispatchCase, type StoreHarness, timed } from './store-harness.ts'

/** Ids as hosts give them whose clocks are wrong: in the order of the alphabet, what was accepted first comes last. */
const IDS = ['z-ahead', 'm-right', 'a-behind']

/** Accepts what a host hands in that believes it to be another time, as an older version of it may say. */
async function acceptFrom({ store, now }: StoreHarness, dispatchId: string, wrongByMs: number): Promise<void> {
  const { dispatch, ...rest } = acceptance(dispatchId, keyed(dispatchId))
  await store.accept({ ...rest, dispatch: Object.assign({ createdAt: now() + wrongByMs }, dispatch) })
}

/** Records are dated by the store's clock, whatever its hosts believe. */
export function datingCases(): readonly DispatchCase[] {
  return [
    contractCase('a dispatch is dated by the clock of the store, and not by that of its host', async (harness) => {
      const { advance, found, other } = harness
      for (const wrongByMs of [HOUR, 0, -HOUR]) {
        const id = `wrong by ${wrongByMs}`
        const { from, to } = await timed(harness, () => acceptFrom(harness, id, wrongByMs))
        const { createdAt } = await found(id)
        between(createdAt, from, to, `when it was accepted by a host whose clock is ${id}`)
        const { answer } = (await other.recall(TENANT, id)) ?? {}
        equal(answer?.createdAt, new Date(createdAt).toISOString(), 'what was answered says the same')
        await advance(MINUTE)
      }
    }),

    contractCase(
      'a list is in the order of acceptance, whatever hosts believe and however ids sort',
      async (harness) => {
        const { advance, now } = harness
        const begin = now()
        for (const [at, id] of IDS.entries()) {
          await acceptFrom(harness, id, (1 - at) * HOUR)
          await advance(MINUTE)
        }
        for (const limit of [1, 2, 100]) {
          equal(await walk(harness, { first: 'oldest', limit }), IDS, `oldest first, by ${limit}`)
          equal(await walk(harness, { limit }), IDS.toReversed(), `newest first, by ${limit}`)
        }
        equal(
          await walk(harness, { since: begin - MINUTE, until: now() + MINUTE }),
          IDS.toReversed(),
          'within this time',
        )
        equal(await walk(harness, { until: begin - MINUTE / 2 }), [], 'before it')
        const [, second = ''] = IDS
        const { createdAt } = await harness.found(second)
        equal(await walk(harness, { since: createdAt, first: 'oldest' }), IDS.slice(1), 'from the second on')
        equal(await walk(harness, { until: createdAt }), IDS.slice(0, 1), 'before the second')
      },
    ),

    contractCase('how old a dispatch is says the clock of the store', async (harness) => {
      const { advance, store } = harness
      for (const [at, id] of IDS.entries()) {
        const { dispatch, ...rest } = acceptance(id, { deliveries: [skipped(id)] })
        const createdAt = harness.now() + (1 - at) * 9 * HOUR
        await store.accept({ ...rest, dispatch: Object.assign({ createdAt }, dispatch) })
        await advance(HOUR)
      }
      const removal = { acceptedForMs: HOUR + MINUTE, limit: 100 }
      equal(await store.removeDispatches(removal), 2)
      equal(await walk(harness, {}), IDS.slice(2))
    }),

    contractCase(
      'an attempt ends no sooner than it began, and the next begins no sooner than that',
      async (harness) => {
        const { accept, advance, claimOne, only, store } = harness
        await accept('1')
        const spans: { readonly from: number; readonly to: number }[] = []
        for (const delayMs of [0, MINUTE, 0]) {
          const { from, to } = await timed(harness, async () => {
            const { deliveryId, fence } = await claimOne()
            const attempt = { outcome: 'retry', code: 'busy' } as const
            await store.settle({ deliveryId, fence, to: 'queued', delayMs, attempt })
          })
          spans.push({ from, to })
          await advance(2 * MINUTE)
        }
        const { attemptLog } = await only('1')
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
    ),
  ]
}

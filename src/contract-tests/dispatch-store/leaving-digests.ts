import { equal, matches } from '../assertions.ts'
import { digesting, eventsOf } from './digests.ts'
import { HOUR, MINUTE, proof, RETRY, SENT, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, type StoreHarness } from './store-harness.ts'

/** A digest of these, which is being sent. */
async function sendingOf(harness: StoreHarness, ...ids: readonly string[]) {
  const post = digesting(harness)
  for (const id of ids) await post(id)
  await harness.advance(HOUR)
  return proof(await harness.claimOne('a', HOUR))
}

const content = { text: 'rendered' }

async function statesOf({ states }: StoreHarness, ...ids: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const id of ids) found.push(...(await states(id)))
  return found
}

/** What comes of a digest when one of its dispatches is cancelled. */
export function leavingDigestCases(): readonly DispatchCase[] {
  return [
    contractCase('cancelling a dispatch takes its event out of a digest, and leaves it a record', async (harness) => {
      const { store, advance, claimOne, only, found } = harness
      const post = digesting(harness)
      for (const id of ['1', '2', '3']) await post(id)
      const change = await store.cancel(TENANT, '1')
      equal(change?.changed, [{ deliveryId: '1-d', channel: 'a', status: 'cancelled', attempts: 0 }])
      equal(change?.dispatch, await found('1'))
      matches(await only('1'), { deliveryId: '1-d', status: 'cancelled', dueAt: undefined })
      for (const id of ['2', '3']) matches(await only(id), { deliveryId: '1-d', status: 'queued', eventCount: 2 })
      await advance(HOUR)
      const claimed = await claimOne()
      matches(claimed, { deliveryId: '1-d', dispatch: { dispatchId: '2' }, digest: { events: eventsOf('2', '3') } })
      await store.settle({ ...proof(claimed), to: 'sent', attempt: SENT })
      matches(await only('1'), { status: 'cancelled', attempts: 0, attemptLog: [] })
      equal(await statesOf(harness, '2', '3'), ['sent', 'sent'])
    }),

    contractCase('an event that was taken out makes room for another', async (harness) => {
      const post = digesting(harness)
      for (const id of ['1', '2']) await post(id, { max: 2 })
      await harness.store.cancel(TENANT, '2')
      equal(await post('3', { max: 2 }), '1-d')
      await harness.advance(HOUR)
      matches(await harness.claimOne(), { digest: { events: eventsOf('1', '3') } })
    }),

    contractCase('with its last event a digest is cancelled, and the next one opens another', async (harness) => {
      const { store, advance, claim } = harness
      const post = digesting(harness)
      for (const id of ['1', '2']) await post(id)
      for (const id of ['2', '1']) {
        matches(await store.cancel(TENANT, id), { changed: [{ deliveryId: '1-d', status: 'cancelled' }] })
      }
      matches(await store.cancel(TENANT, '1'), { changed: [] })
      equal(await post('3'), '3-d')
      await advance(HOUR)
      matches((await claim()).deliveries, [{ deliveryId: '3-d', digest: { events: eventsOf('3') } }])
    }),

    contractCase('an event is taken out of a digest that is being sent once that is put back', async (harness) => {
      const { store, advance, claimOne } = harness
      const mine = await sendingOf(harness, '1', '2', '3')
      matches(await store.cancel(TENANT, '1'), { changed: [] })
      equal(await statesOf(harness, '1', '2', '3'), ['sending', 'sending', 'sending'])
      await store.settle({ ...mine, to: 'queued', delayMs: MINUTE })
      equal(await statesOf(harness, '1', '2', '3'), ['cancelled', 'queued', 'queued'])
      await advance(MINUTE)
      matches(await claimOne(), { dispatch: { dispatchId: '2' }, digest: { events: eventsOf('2', '3') } })
    }),

    contractCase('an event is taken out of a digest whose worker died before that is handed out', async (harness) => {
      const { store, advance, claimOne } = harness
      await sendingOf(harness, '1', '2')
      await store.cancel(TENANT, '2')
      await advance(HOUR)
      matches(await claimOne(), { deliveryId: '1-d', attempts: 2, digest: { events: eventsOf('1') } })
      equal(await statesOf(harness, '1', '2'), ['sending', 'cancelled'])
    }),

    contractCase(
      'a digest that is rendered is cancelled once all its dispatches have asked for it',
      async (harness) => {
        const { store, advance, claim, only } = harness
        await store.settle({ ...(await sendingOf(harness, '1', '2')), to: 'queued', delayMs: MINUTE, content })
        const before = await only('1')
        for (const _ of ['once', 'twice']) matches(await store.cancel(TENANT, '2'), { changed: [] })
        equal([await only('1'), await only('2')], [before, before])
        equal((await store.cancel(TENANT, '1'))?.changed, [
          { deliveryId: '1-d', channel: 'a', status: 'cancelled', attempts: 0 },
        ])
        equal(await statesOf(harness, '1', '2'), ['cancelled', 'cancelled'])
        await advance(HOUR)
        matches(await claim(), { deliveries: [], expired: [] })
      },
    ),

    contractCase('a digest that is rendered is sent while one of its dispatches wants it', async (harness) => {
      const { store, claimOne } = harness
      await store.settle({ ...(await sendingOf(harness, '1', '2')), to: 'queued', delayMs: 0, content })
      await store.cancel(TENANT, '1')
      await store.settle({ ...proof(await claimOne()), to: 'queued', delayMs: 0, attempt: RETRY })
      equal(await statesOf(harness, '1', '2'), ['queued', 'queued'])
      await store.settle({ ...proof(await claimOne()), to: 'sent', attempt: SENT })
      equal(await statesOf(harness, '1', '2'), ['sent', 'sent'])
    }),

    contractCase('a digest that is being sent when nobody wants it any longer is not queued again', async (harness) => {
      const { store, claim } = harness
      const mine = await sendingOf(harness, '1', '2')
      for (const id of ['1', '2']) matches(await store.cancel(TENANT, id), { changed: [] })
      matches(await store.settle({ ...mine, to: 'queued', delayMs: 0, content }), { live: true, cancelled: true })
      equal(await statesOf(harness, '1', '2'), ['cancelled', 'cancelled'])
      equal((await claim()).deliveries, [])
    }),
  ]
}

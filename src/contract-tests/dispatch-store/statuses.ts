import { type DispatchStatus, statusOfDispatch } from '../../model/dispatch.ts'
import { equal } from '../assertions.ts'
import { type Query, walk } from './reading.ts'
import { replan, SOURCE } from './replanning.ts'
import { broken, delivery, digested, HOUR, LEASE, proof, REJECTED, RETRY, SENT, skipped, TENANT } from './samples.ts'
import { contractCase, type DispatchCase, numbers, type StoreHarness } from './store-harness.ts'

const STATUSES: readonly DispatchStatus[] = ['queued', 'sent', 'partial', 'failed', 'cancelled', 'skipped']
/** More than a store may look at for a page where few fit, and few enough to be accepted quickly. */
const OTHERS = 1_200
const AT_ONCE = 200

/** Fails unless each of these dispatches is in the list of its status, and in no other. */
async function checkListed(harness: StoreHarness, ids: readonly string[], what = ''): Promise<void> {
  const expected = new Map<DispatchStatus, string[]>(STATUSES.map((status) => [status, []]))
  for (const id of ids) {
    const { deliveries, route } = await harness.found(id)
    expected
      .get(
        statusOfDispatch(
          deliveries.map(({ status }) => status),
          route,
        ),
      )
      ?.push(id)
  }
  for (const status of STATUSES)
    equal((await walk(harness, { status })).sort(), expected.get(status)?.sort(), `${what} listed as ${status}`)
}

/** Claims what is due in these channels, and ends each as it says. */
async function settleAll(
  harness: StoreHarness,
  ends: Readonly<Record<string, 'sent' | 'failed' | 'queued'>>,
): Promise<void> {
  const limits = Object.fromEntries(Object.keys(ends).map((channel) => [channel, 99]))
  for (const one of (await harness.claim(limits)).deliveries) {
    const to = ends[one.channel]
    if (to === 'sent') await harness.store.settle({ ...proof(one), to, attempt: SENT })
    if (to === 'queued') await harness.store.settle({ ...proof(one), to, delayMs: 0, attempt: RETRY })
    if (to === 'failed')
      await harness.store.settle({ ...proof(one), to, reason: 'provider_rejected', attempt: REJECTED })
  }
}

function pair(id: string, second: 'queued' | 'held' = 'queued') {
  return [delivery(`${id}-a`), delivery(`${id}-b`, { channel: 'b', status: second })]
}

/** Which list a dispatch is in, and that lists hold what there is. */
export function statusCases(): readonly DispatchCase[] {
  return [
    contractCase('a page of any one filter is full, however many others were accepted since', async (harness) => {
      const wanted = { eventType: 'wanted', recipient: 'wanted', sessionId: 'wanted' }
      for (const at of numbers(3)) {
        await harness.accept(`w${at}`, { ...wanted, deliveries: [{ ...skipped(`w${at}`), status: 'failed' }] })
        await harness.advance(HOUR)
      }
      const accepted = (await harness.found('w2')).createdAt
      for (let from = 0; from < OTHERS; from += AT_ONCE)
        await Promise.all(
          numbers(AT_ONCE).map((at) => harness.accept(`${from + at}`, { deliveries: [skipped(`${from + at}`)] })),
        )
      const filters: readonly Query[] = [
        { status: 'failed' },
        { eventType: wanted.eventType },
        { recipient: wanted.recipient },
        { sessionId: wanted.sessionId },
        { until: accepted + 1 },
      ]
      for (const filter of filters) {
        const { items } = await harness.store.listDispatches({ tenant: TENANT, limit: 3, ...filter })
        const ids = items.map(({ dispatchId }) => dispatchId)
        equal(ids, ['w2', 'w1', 'w0'], JSON.stringify(filter))
      }
    }),

    contractCase('a dispatch is listed by its status of now, whatever it was before', async (harness) => {
      const { accept, store } = harness
      await accept('one')
      await accept('all', { deliveries: pair('all') })
      await accept('first', { route: 'first', deliveries: pair('first', 'held') })
      await accept('none', { deliveries: [] })
      for (const id of ['d1', 'd2']) await accept(id, { deliveries: [digested(`${id}-x`, {}, { channel: 'd' })] })
      const ids = ['one', 'all', 'first', 'none', 'd1', 'd2']
      await checkListed(harness, ids, 'when it is new,')
      await settleAll(harness, { a: 'failed' })
      await checkListed(harness, ids, 'when one failed,')
      await store.retry(TENANT, 'one', { expiresInMs: HOUR })
      await store.retry(TENANT, 'all', { expiresInMs: HOUR })
      await checkListed(harness, ids, 'when it is tried again,')
      await settleAll(harness, { a: 'queued', b: 'sent' })
      await checkListed(harness, ids, 'when one was sent,')
      await store.cancel(TENANT, 'd1')
      await store.cancel(TENANT, 'one')
      await checkListed(harness, ids, 'when it was cancelled,')
      await harness.advance(2 * HOUR)
      await settleAll(harness, { d: 'failed', a: 'sent' })
      await checkListed(harness, ids, 'when all have ended,')
      await store.removeDispatches({ acceptedForMs: HOUR, limit: 99 })
      for (const status of STATUSES) equal(await walk(harness, { status }), [], status)
    }),

    contractCase('a dispatch is listed as expired ones are', async (harness) => {
      await harness.accept('one', { expiresInMs: HOUR })
      await harness.accept('all', { expiresInMs: HOUR, deliveries: pair('all') })
      await settleAll(harness, { b: 'sent' })
      await harness.advance(2 * HOUR)
      await harness.claim({ a: 99, b: 99 })
      equal(await walk(harness, { status: 'failed' }), ['one'])
      equal(await walk(harness, { status: 'partial' }), ['all'])
      equal(await walk(harness, { status: 'queued' }), [])
    }),

    contractCase('a dispatch that is planned again is listed by its new status', async (harness) => {
      const ids = ['skipped', 'opens', 'joins']
      for (const id of ids) await harness.accept(id, { deliveries: [broken(`${id}-a`)], source: SOURCE })
      await checkListed(harness, ids, 'when it failed,')
      await replan(harness, 'skipped', [skipped('skipped-a')])
      await checkListed(harness, ids, 'when it is skipped,')
      await replan(harness, 'opens', [digested('opens-a')])
      await checkListed(harness, ids, 'when it opens a digest,')
      await replan(harness, 'joins', [digested('joins-a')])
      await checkListed(harness, ids, 'when it joins the digest,')
    }),

    contractCase('a dispatch is listed as it stands, whatever happened to its deliveries at once', async (harness) => {
      const { store, other, accept } = harness
      const ids = numbers(16).map((at) => `p${at}`)
      for (const id of ids) await accept(id, { deliveries: pair(id) })
      for (const at of numbers(8)) {
        const digest = { key: `k${at}` }
        for (const part of ['x', 'y']) {
          const id = `${part}${at}`
          ids.push(id)
          await accept(id, { deliveries: [digested(`${id}-d`, digest, { delayMs: 60_000 })] })
        }
      }
      await harness.advance(HOUR / 2)
      const mine = await store.claim({ limits: { a: 99 }, leaseMs: LEASE, busy: [] })
      const others = await other.claim({ limits: { b: 99 }, leaseMs: LEASE, busy: [] })
      const settle = (through: typeof store, one: (typeof mine.deliveries)[number], at: number) =>
        at % 5 === 1
          ? through.settle({ ...proof(one), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
          : through.settle({ ...proof(one), to: 'sent', attempt: SENT })
      await Promise.all([
        ...mine.deliveries.map((one, at) => settle(store, one, at)),
        ...others.deliveries.map((one, at) => settle(other, one, at + 1)),
        ...ids.filter((_, at) => at % 3 === 0).map((id) => other.cancel(TENANT, id)),
        ...ids.filter((_, at) => at % 4 === 1).map((id) => store.retry(TENANT, id, { expiresInMs: HOUR })),
      ])
      await checkListed(harness, ids, 'at first,')
      await Promise.all(ids.map((id) => other.retry(TENANT, id, { expiresInMs: HOUR })))
      await checkListed(harness, ids, 'after retries,')
      await Promise.all(ids.map((id) => store.cancel(TENANT, id)))
      await checkListed(harness, ids, 'after cancels,')
    }),
  ]
}

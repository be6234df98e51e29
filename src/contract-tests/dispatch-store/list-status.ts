import type { DispatchStatus } from '../../model/dispatch.ts'
import { statusOfDispatch } from '../../model/dispatch.ts'
import { equal } from '../assertions.ts'
import { replan, SOURCE } from './replans.ts'
import { broken, delivery, digested, HOUR, proof, REJECTED, RETRY, SENT, skipped, TENANT } from './samples.ts'
import { claimOf, type DispatchCase, dispatchCases, numbers, type Query, type StoreHarness } from './store-harness.ts'

const STATUSES: readonly DispatchStatus[] = ['queued', 'sent', 'partial', 'failed', 'cancelled', 'skipped']
/** Dispatches that do not match. A store that scans a fixed number of rows per page would miss the matches. */
const OTHERS = 1_200
const AT_ONCE = 200

/** Fails unless each dispatch is listed under its status only. */
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
    equal((await harness.list({ status })).sort(), expected.get(status)?.sort(), `${what} listed as ${status}`)
}

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

export const listStatusCases: readonly DispatchCase[] = dispatchCases([], {
  'a page with one filter is full, however many newer dispatches do not fit': async (t) => {
    const wanted = { eventType: 'wanted', recipient: 'wanted', sessionId: 'wanted' }
    for (const at of numbers(3)) {
      await t.accept(`w${at}`, { ...wanted, deliveries: [{ ...skipped(`w${at}`), status: 'failed' }] })
      await t.advance(HOUR)
    }
    const accepted = (await t.found('w2')).createdAt
    for (let from = 0; from < OTHERS; from += AT_ONCE)
      await Promise.all(
        numbers(AT_ONCE).map((at) => t.accept(`${from + at}`, { deliveries: [skipped(`${from + at}`)] })),
      )
    const filters: readonly Query[] = [
      { status: 'failed' },
      { eventType: wanted.eventType },
      { recipient: wanted.recipient },
      { sessionId: wanted.sessionId },
      { until: accepted + 1 },
    ]
    for (const filter of filters) {
      const { items } = await t.store.listDispatches({ tenant: TENANT, limit: 3, ...filter })
      const ids = items.map(({ dispatchId }) => dispatchId)
      equal(ids, ['w2', 'w1', 'w0'], JSON.stringify(filter))
    }
  },
  'a dispatch is listed by its current status only': async (t) => {
    await t.accept('one')
    await t.accept('all', { deliveries: pair('all') })
    await t.accept('first', { route: 'first', deliveries: pair('first', 'held') })
    await t.accept('none', { deliveries: [] })
    for (const id of ['d1', 'd2']) await t.accept(id, { deliveries: [digested(`${id}-x`, {}, { channel: 'd' })] })
    const ids = ['one', 'all', 'first', 'none', 'd1', 'd2']
    await checkListed(t, ids, 'a new dispatch is')
    await settleAll(t, { a: 'failed' })
    await checkListed(t, ids, 'after a failure a dispatch is')
    await t.retry('one')
    await t.retry('all')
    await checkListed(t, ids, 'after a retry a dispatch is')
    await settleAll(t, { a: 'queued', b: 'sent' })
    await checkListed(t, ids, 'after a send a dispatch is')
    await t.cancel('d1')
    await t.cancel('one')
    await checkListed(t, ids, 'after a cancel a dispatch is')
    await t.advance(2 * HOUR)
    await settleAll(t, { d: 'failed', a: 'sent' })
    await checkListed(t, ids, 'after the end of all deliveries a dispatch is')
    await t.store.removeDispatches({ acceptedForMs: HOUR, limit: 99 })
    for (const status of STATUSES) equal(await t.list({ status }), [], status)
  },
  'a dispatch with expired deliveries is listed by its new status': async (t) => {
    await t.accept('one', { expiresInMs: HOUR })
    await t.accept('all', { expiresInMs: HOUR, deliveries: pair('all') })
    await settleAll(t, { b: 'sent' })
    await t.advance(2 * HOUR)
    await t.claim({ a: 99, b: 99 })
    equal(await t.list({ status: 'failed' }), ['one'])
    equal(await t.list({ status: 'partial' }), ['all'])
    equal(await t.list({ status: 'queued' }), [])
  },
  'a replanned dispatch is listed by its new status': async (t) => {
    const ids = ['skipped', 'opens', 'joins']
    for (const id of ids) await t.accept(id, { deliveries: [broken(`${id}-a`)], source: SOURCE })
    await checkListed(t, ids, 'after the failure a dispatch is')
    await replan(t, 'skipped', [skipped('skipped-a')])
    await checkListed(t, ids, 'after the skip a dispatch is')
    await replan(t, 'opens', [digested('opens-a')])
    await checkListed(t, ids, 'after it opens a digest a dispatch is')
    await replan(t, 'joins', [digested('joins-a')])
    await checkListed(t, ids, 'after it joins the digest a dispatch is')
  },
  'a dispatch is listed by its status after concurrent changes': async (t) => {
    const ids = numbers(16).map((at) => `p${at}`)
    for (const id of ids) await t.accept(id, { deliveries: pair(id) })
    for (const at of numbers(8)) {
      const digest = { key: `k${at}` }
      for (const part of ['x', 'y']) {
        const id = `${part}${at}`
        ids.push(id)
        await t.accept(id, { deliveries: [digested(`${id}-d`, digest, { delayMs: 60_000 })] })
      }
    }
    await t.advance(HOUR / 2)
    const mine = await t.store.claim(claimOf({ a: 99 }))
    const others = await t.other.claim(claimOf({ b: 99 }))
    const settle = (through: typeof t.store, one: (typeof mine.deliveries)[number], at: number) =>
      at % 5 === 1
        ? through.settle({ ...proof(one), to: 'failed', reason: 'provider_rejected', attempt: REJECTED })
        : through.settle({ ...proof(one), to: 'sent', attempt: SENT })
    await Promise.all([
      ...mine.deliveries.map((one, at) => settle(t.store, one, at)),
      ...others.deliveries.map((one, at) => settle(t.other, one, at + 1)),
      ...ids.filter((_, at) => at % 3 === 0).map((id) => t.other.cancel(TENANT, id)),
      ...ids.filter((_, at) => at % 4 === 1).map((id) => t.retry(id)),
    ])
    await checkListed(t, ids, 'after settlements a dispatch is')
    await Promise.all(ids.map((id) => t.other.retry(TENANT, id, { expiresInMs: HOUR })))
    await checkListed(t, ids, 'after retries a dispatch is')
    await Promise.all(ids.map((id) => t.cancel(id)))
    await checkListed(t, ids, 'after cancels a dispatch is')
  },
})

import type { ErasedDispatches } from '../../ports/dispatch-erasure.ts'
import { equal, matches, ok } from '../assertions.ts'
import { SOURCE } from './replans.ts'
import {
  ADDRESS,
  broken,
  delivery,
  digested,
  everyKind,
  HOUR,
  keyed,
  LEASE,
  proof,
  RETRY,
  SENT,
  TENANT,
} from './samples.ts'
import { claimOf, type DispatchCase, dispatchCases, numbers, type StoreHarness } from './store-harness.ts'

const ERASED = 'erased'

function erase({ store }: StoreHarness, dispatchId: string): Promise<ErasedDispatches | undefined> {
  return store.eraseDispatch(TENANT, dispatchId)
}

function erased(dispatches: number, cancelled: number): ErasedDispatches {
  return { dispatches, cancelled }
}

/** Everything that the store gives of a dispatch, as text. */
async function textOf({ other, found }: StoreHarness, dispatchId: string): Promise<string> {
  const data = await other.findDispatchData(TENANT, dispatchId)
  return JSON.stringify([await found(dispatchId), data, await other.findReplannable(TENANT, dispatchId)])
}

const PERSONAL = { locale: 'de-AT', deliveries: everyKind() }

export const erasureCases: readonly DispatchCase[] = dispatchCases([], {
  'findDispatchData has everything that is stored of a dispatch': async (t) => {
    await t.accept('1', PERSONAL)
    await t.accept('2', { deliveries: [broken('2-a')], source: SOURCE })
    const data = await t.other.findDispatchData(TENANT, '1')
    matches(data?.dispatch, await t.found('1'))
    const recipient = { id: ADDRESS, attributes: { tags: ['a'] } }
    equal(data?.digests, [{ deliveryId: 'd', recipient, eventData: { list: [1] } }])
    equal((await t.other.findDispatchData(TENANT, '2'))?.source, SOURCE)
    equal(await t.other.findDispatchData('t2', '1'), undefined)
    equal(await t.other.findDispatchData(TENANT, 'unknown'), undefined)
  },
  'eraseDispatch lists dispatches as cancelled whose digests it ended through another dispatch': async (t) => {
    const [a, b] = [digested('a'), digested('b', {}, { channel: 'b' })]
    await t.accept('1', { deliveries: [a] })
    await t.accept('2', { deliveries: [{ ...a, deliveryId: '2-a' }, b] })
    await t.accept('3', { deliveries: [{ ...b, deliveryId: '3-b' }] })
    equal(await erase(t, '1'), erased(2, 2))
    equal(await t.states('3'), ['cancelled'])
    equal((await t.list({ status: 'cancelled' })).sort(), ['1', '2', '3'])
    await t.advance(HOUR)
    equal(await t.store.removeDispatches({ acceptedForMs: 0, limit: 9 }), 3)
  },
  'eraseDispatch removes personal data and cancels open deliveries': async (t) => {
    await t.accept('1', PERSONAL)
    equal(await erase(t, '1'), erased(1, 3))
    equal(await t.states('1'), ['cancelled', 'skipped no_address', 'cancelled', 'cancelled'])
    const text = await textOf(t, '1')
    for (const secret of [ADDRESS, 'Hello', 'receiver', 'de-AT', 'tags', 'data.total', '"list"'])
      ok(!text.includes(secret), `${secret} is still stored: ${text}`)
    equal((await t.found('1')).recipient, ERASED)
    equal(
      (await t.other.findDispatchData(TENANT, '1'))?.digests.map(({ eventData }) => eventData),
      [{}],
    )
    await t.advance(2 * HOUR)
    equal((await t.claim({ a: 9, b: 9, c: 9, d: 9 })).deliveries, [])
  },
  'eraseDispatch keeps ids, event types, sessions, times, statuses and attempts': async (t) => {
    await t.accept('1', { sessionId: 's', critical: true })
    await t.settleNext({ to: 'queued', delayMs: 0, attempt: RETRY })
    await t.settleNext({ to: 'sent', attempt: { ...SENT, provider: 'p', providerMessageId: 'm1' } })
    const { recipient: _, deliveries, ...head } = await t.found('1')
    equal(await erase(t, '1'), erased(1, 0))
    const outcomes = deliveries.map(({ address: _, content: __, ...outcome }) => outcome)
    equal(await t.found('1'), { ...head, recipient: ERASED, deliveries: outcomes })
    equal(await t.list({ status: 'sent', sessionId: 's', eventType: 'e' }), ['1'])
  },
  'eraseDispatch ends leases: nothing of the delivery can be settled, renewed or claimed again': async (t) => {
    await t.accept('1')
    const leased = proof(await t.claimOne())
    equal(await erase(t, '1'), erased(1, 1))
    equal(await t.store.renew(leased, LEASE), false)
    equal(await t.store.settle({ ...leased, to: 'queued', delayMs: 0, attempt: RETRY }), { live: false })
    equal(await t.store.settle({ ...leased, to: 'sent', attempt: SENT }), { live: false })
    await t.advance(2 * LEASE)
    equal((await t.claim()).deliveries, [])
    equal(await t.states('1'), ['cancelled'])
    const [attempt] = (await t.only('1')).attemptLog
    equal(attempt?.outcome, undefined)
  },
  'eraseDispatch erases the dispatches that share a digest, and no others': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(`${id}-d`)] })
    await t.accept('3', { deliveries: [digested('3-d', { key: 'other' })] })
    equal(await erase(t, '2'), erased(2, 1))
    for (const id of ['1', '2']) {
      equal((await t.found(id)).recipient, ERASED)
      equal(await t.states(id), ['cancelled'])
      ok(!(await textOf(t, id)).includes(ADDRESS), `the address is still stored in ${id}`)
    }
    equal((await t.only('1')).eventCount, 2)
    equal((await t.found('3')).recipient, ADDRESS)
    await t.accept('4', { deliveries: [digested('4-d')] })
    equal((await t.only('4')).deliveryId, '4-d')
    await t.advance(HOUR)
    equal((await t.claim()).deliveries.map(({ deliveryId }) => deliveryId).sort(), ['3-d', '4-d'])
  },
  'eraseDispatch erases records of events that left a digest, and rendered digests': async (t) => {
    for (const id of ['1', '2']) await t.accept(id, { deliveries: [digested(`${id}-d`)] })
    await t.cancel('1')
    await t.advance(HOUR)
    await t.settleNext({ to: 'queued', delayMs: HOUR, content: { text: 'rendered' } })
    equal(await erase(t, '1'), erased(1, 0))
    equal(await erase(t, '2'), erased(1, 1))
    for (const id of ['1', '2']) {
      const text = await textOf(t, id)
      for (const secret of [ADDRESS, '"of"', 'rendered'])
        ok(!text.includes(secret), `${secret} is still stored: ${text}`)
      equal(await t.states(id), ['cancelled'])
    }
  },
  'an erased dispatch is neither retried nor planned again': async (t) => {
    await t.accept('failed')
    await t.fail()
    await t.accept('broken', { deliveries: [broken('b')], source: SOURCE })
    for (const id of ['failed', 'broken']) equal(await erase(t, id), erased(1, 0))
    equal((await t.retry('failed'))?.changed, [])
    equal((await t.retry('broken'))?.changed, [])
    equal(await t.other.findReplannable(TENANT, 'broken'), undefined)
    equal(await t.states('failed'), ['failed provider_rejected'])
    equal((await t.claim()).deliveries, [])
  },
  'eraseDispatch finds only dispatches of the tenant, and a repeated call changes nothing': async (t) => {
    await t.accept('1')
    await t.accept('2', { tenant: 't2' })
    for (const id of ['unknown', '2']) equal(await erase(t, id), undefined)
    equal(await erase(t, '1'), erased(1, 1))
    const found = await t.found('1')
    equal(await erase(t, '1'), undefined)
    equal(await t.found('1'), found)
    equal((await t.found('2', 't2')).recipient, ADDRESS)
  },
  'an erased dispatch is listed without its recipient, at its place': async (t) => {
    for (const id of ['1', '2', '3']) {
      await t.accept(id)
      await t.advance(HOUR)
    }
    await erase(t, '2')
    equal(await t.list({ recipient: ADDRESS }), ['3', '1'])
    equal(await t.list({ recipient: ERASED }), ['2'])
    equal(await t.list(), ['3', '2', '1'])
    equal(await t.list({ status: 'cancelled' }), ['2'])
    equal(await t.list({ status: 'queued' }), ['3', '1'])
    equal(await t.store.removeDispatches({ acceptedForMs: HOUR, limit: 9 }), 1)
    equal(await t.list({ recipient: ERASED }), [])
  },
  'redactAnswers redacts answers by dispatch and by recipient, and keeps their keys': async (t) => {
    const trace = [{ rule: '==', path: 'data.total', actual: 7, result: true }]
    await t.accept('1', {
      ...keyed('one'),
      recipient: 'user_1',
      answer: () => ({
        ...{ dispatchId: '1', eventType: 'e', recipient: 'user_1', status: 'queued', createdAt: '', duplicate: false },
        ...{ warnings: [], deliveries: [{ deliveryId: '1-a', channel: 'a', status: 'queued', attempts: 0, trace }] },
      }),
    })
    await t.accept('2', keyed('two'))
    await t.accept('3', { ...keyed('three'), recipient: 'user_3' })
    await t.accept('4', { ...keyed('two'), tenant: 't2' })
    const erasure = { tenant: TENANT, recipient: ADDRESS, dispatchIds: ['1'] }
    equal(await t.store.redactAnswers(erasure), 2)
    equal(await t.store.redactAnswers(erasure), 0)
    const answers = await Promise.all(['one', 'two', 'three'].map((key) => t.other.recall(TENANT, key)))
    equal(
      answers.map((stored) => [stored?.fingerprint, stored?.answer.dispatchId, stored?.answer.recipient]),
      [
        ['f1', '1', ERASED],
        ['f1', '2', ERASED],
        ['f1', '3', 'user_3'],
      ],
    )
    equal(answers[0]?.answer.deliveries, [{ deliveryId: '1-a', channel: 'a', status: 'queued', attempts: 0 }])
    equal((await t.other.recall('t2', 'two'))?.answer.recipient, ADDRESS)
    const repeated = await t.accept('5', keyed('two'))
    matches(repeated, { outcome: 'replayed', answer: { dispatchId: '2', recipient: ERASED } })
    equal((await t.accept('6', keyed('two', 'other'))).outcome, 'key_reused')
    equal(await t.other.findDispatch(TENANT, '5'), undefined)
  },
  'redactAnswers reads all answers of a tenant': async (t) => {
    for (const from of numbers(6))
      await Promise.all(
        numbers(200).map((at) => {
          const id = `${from}-${at}`
          return t.accept(id, { ...keyed(id), recipient: id === '5-199' ? 'wanted' : id, deliveries: [] })
        }),
      )
    equal(await t.store.redactAnswers({ tenant: TENANT, recipient: 'wanted', dispatchIds: [] }), 1)
    equal((await t.other.recall(TENANT, '5-199'))?.answer.recipient, ERASED)
  },
  'concurrent settlements, joining events and erasures leave no personal data and send nothing more': async (t) => {
    const ids = numbers(12).map((at) => `p${at}`)
    for (const id of ids) await t.accept(id)
    const { deliveries } = await t.claim({ a: 12 })
    await t.accept('d0', { deliveries: [digested('d0-d')] })
    await Promise.all([
      ...deliveries.map((one, at) =>
        t.store.settle(
          at % 2 === 0
            ? { ...proof(one), to: 'queued', delayMs: 0, attempt: RETRY }
            : { ...proof(one), to: 'sent', attempt: SENT },
        ),
      ),
      ...ids.map((id) => t.other.eraseDispatch(TENANT, id)),
      t.other.eraseDispatch(TENANT, 'd0'),
      ...numbers(2).map((at) => t.accept(`d${at + 1}`, { deliveries: [digested(`d${at + 1}-d`)] })),
    ])
    for (const id of [...ids, 'd0']) ok(!(await textOf(t, id)).includes(ADDRESS), `the address is still in ${id}`)
    const { deliveries: again } = await t.store.claim(claimOf({ a: 99 }))
    equal(again, [])
  },
  'an erased dispatch with a queued delivery of another channel sends neither': async (t) => {
    await t.accept('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] })
    await t.send()
    equal(await erase(t, '1'), erased(1, 1))
    equal(await t.states('1'), ['sent', 'cancelled'])
    equal((await t.claim({ a: 9, b: 9 })).deliveries, [])
  },
})

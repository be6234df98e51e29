import type { Dispatch } from '../../model/dispatch.ts'
import { equal, matches, ok } from '../assertions.ts'
import { acceptance, answerOf, delivery, digested, everyKind, HOUR, keyed, MARGIN, TENANT } from './samples.ts'
import { between, contractCase, type DispatchCase, idsOf, numbers, timed } from './store-harness.ts'

export function acceptingCases(): readonly DispatchCase[] {
  return [...storing(), ...answering()]
}

function storing(): readonly DispatchCase[] {
  return [
    contractCase('a store that can be used says that it is ready', async ({ store }) => {
      await store.ready?.()
    }),

    contractCase('a dispatch is kept with everything that is said of it', async (harness) => {
      const head = { eventType: 'order.shipped', recipient: 'user_42', sessionId: 's1', locale: 'de-AT' }
      const given = { ...head, route: 'first', critical: true, sandboxed: true } as const
      const deliveries = everyKind()
      const { from, to } = await timed(harness, () => harness.accept('1', { ...given, deliveries }))
      const { deliveries: stored, createdAt, ...rest } = await harness.found('1')
      between(createdAt, from, to, 'when it was accepted')
      equal(rest, { dispatchId: '1', tenant: TENANT, ...given })
      const [x, y, z, d] = stored
      between(x?.dueAt, from, to, 'when the queued one is due')
      between(d?.dueAt, from + HOUR, to + HOUR, 'when the digest is due')
      const [{ limits: _, ...first } = {}, second, third, { digest: __, delayMs: ___, ...fourth } = {}] = deliveries
      const fresh = { attempts: 0, attemptLog: [] }
      equal({ ...x, dueAt: undefined }, { ...first, ...fresh })
      equal(y, { ...second, ...fresh }, 'what is not said is not there')
      equal(z, { ...third, ...fresh })
      equal({ ...d, dueAt: undefined }, { ...fourth, ...fresh, eventCount: 1 })
    }),

    contractCase('deliveries stand in the order in which they were given', async ({ accept, found }) => {
      const ids = ['m', 'z', 'a', 'y', 'b', 'x', 'c', 'w']
      await accept('1', { deliveries: ids.map((id) => delivery(id, { channel: `channel-${id}` })) })
      equal(
        (await found('1')).deliveries.map(({ deliveryId }) => deliveryId),
        ids,
      )
    }),

    contractCase('a delivery waits until its delay is over', async (harness) => {
      const { accept, only, advance, claim } = harness
      const { from, to } = await timed(harness, () => accept('1', { deliveries: [delivery('x', { delayMs: HOUR })] }))
      between((await only('1')).dueAt, from + HOUR, to + HOUR, 'when it is due')
      await advance(HOUR - MARGIN)
      equal((await claim()).deliveries, [])
      await advance(MARGIN)
      equal(idsOf((await claim()).deliveries), ['x'])
    }),

    contractCase('a dispatch of one tenant is none to another', async ({ store, other, accept, found }) => {
      await accept('1')
      const before = await found('1')
      equal(await other.findDispatch('t2', '1'), undefined)
      equal(await store.cancel('t2', '1'), undefined)
      equal(await store.retry('t2', '1', { expiresInMs: HOUR }), undefined)
      equal(await other.findDispatch(TENANT, 'nothing'), undefined)
      equal(await found('1'), before)
    }),

    contractCase('what cannot be kept is not kept in part', async ({ store, other, accept, claim }) => {
      const endless: Record<string, string> = {}
      Reflect.set(endless, 'self', endless)
      const deliveries = [delivery('x'), delivery('y', { channel: 'b', content: endless })]
      const refused = await store.accept(acceptance('1', { ...keyed(), deliveries })).then(
        () => false,
        () => true,
      )
      if (!refused) return
      equal(await other.findDispatch(TENANT, '1'), undefined, 'the dispatch is not there')
      equal(await other.recall(TENANT, 'k'), undefined, 'its key is not there')
      equal((await claim({ a: 9, b: 9 })).deliveries, [], 'its deliveries are not there')
      matches(await accept('2', keyed('k', 'f2')), { outcome: 'accepted' })
    }),

    contractCase('a call that throws has changed nothing, or all of it', async ({ store, other }) => {
      for (const at of numbers(20)) {
        const attempt = (id: string) => store.accept(acceptance(id, keyed(`key-${at}`)))
        await attempt(`${at}`).catch(() => attempt(`${at}-again`))
      }
      const { items } = await other.listDispatches({ tenant: TENANT, limit: 100 })
      equal(items.length, 20, 'a post that is repeated with its key makes one dispatch')
    }),
  ]
}

function answering(): readonly DispatchCase[] {
  return [
    contractCase('the answer is made from the dispatch as it is stored', async ({ accept, found }) => {
      let shown: Dispatch | undefined
      const outcome = await accept('1', {
        deliveries: everyKind(),
        answer(dispatch) {
          shown = structuredClone(dispatch)
          return answerOf(dispatch)
        },
      })
      ok(shown, 'the answer was not asked for')
      equal(shown, await found('1'))
      equal(outcome, { outcome: 'accepted', answer: answerOf(shown) })
    }),

    contractCase('the answer tells what was throttled, and which digest was joined', async ({ accept }) => {
      const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
      await accept('1', { deliveries: [digested('d1'), delivery('x', { channel: 'b', limits })] })
      matches(await accept('2', { deliveries: [digested('d2'), delivery('y', { channel: 'b', limits })] }), {
        outcome: 'accepted',
        answer: {
          deliveries: [
            { deliveryId: 'd1', status: 'queued' },
            { deliveryId: 'y', status: 'skipped', reason: 'throttled' },
          ],
        },
      })
    }),
  ]
}

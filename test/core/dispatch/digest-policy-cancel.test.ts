import { describe, expect, it } from 'vitest'
import type { DispatchView } from '../../../src/model/dispatch.ts'
import type { DeliveryPolicy } from '../../../src/ports/delivery-policy.ts'
import { ends } from '../../sallyport/composed.ts'
import { comments, contents, HOUR } from './comments.ts'

describe('a digest and a policy', () => {
  it('a digest spends a limit once, however many events join it', async () => {
    const limits = [{ key: 'k', max: 1, windowMs: 10 * HOUR }]
    const { say } = comments({ policy: { decide: () => ({ verdict: 'send', limits }) } })
    expect(await say('Ann')).toMatchObject({ status: 'queued', eventCount: 1 })
    expect(await say('Bob')).toMatchObject({ status: 'queued', eventCount: 2 })
    expect(await say('Cem', 't2')).toMatchObject({ status: 'skipped', reason: 'throttled' })
    expect(await say('Dan')).toMatchObject({ status: 'queued', eventCount: 3 })
  })

  it('a digest skips events of recipients that opted out, and asks the policy again before it is sent', async () => {
    let verdict: 'send' | 'opted_out' = 'opted_out'
    const decide: DeliveryPolicy['decide'] = () =>
      verdict === 'send' ? { verdict } : { verdict: 'skip', reason: verdict }
    const { sallyport, clock, mail, say } = comments({ policy: { decide } })
    expect(await say('Ann')).toMatchObject({ status: 'skipped', reason: 'opted_out' })
    verdict = 'send'
    const { dispatchId } = await say('Bob')
    verdict = 'opted_out'
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(mail.sent).toEqual([])
    expect(ends((await sallyport.dispatches.get(dispatchId)) as DispatchView)).toEqual(['mail: skipped opted_out'])
  })
})

describe('cancelling an event of a digest', () => {
  it('cancelling one event of a digest removes only that event', async () => {
    const { sallyport, clock, mail, say } = comments()
    const [ann, bob, cem] = [await say('Ann'), await say('Bob'), await say('Cem')]
    const cancelled = await sallyport.dispatches.cancel(bob.dispatchId)
    expect(cancelled?.cancelled).toMatchObject([{ channel: 'mail', status: 'cancelled' }])
    expect(cancelled?.dispatch).toMatchObject({ dispatchId: bob.dispatchId, status: 'cancelled' })
    for (const { dispatchId } of [ann, cem]) {
      expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
        status: 'queued',
        deliveries: [{ deliveryId: ann.deliveryId, eventCount: 2 }],
      })
    }
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(contents(mail)).toEqual([{ subject: '2 new in t1', text: 'Ann;Cem; last: Cem' }])
    expect(await sallyport.dispatches.get(bob.dispatchId)).toMatchObject({ status: 'cancelled' })
  })

  it('cancelling the first event of a digest keeps the digest for the others', async () => {
    const { sallyport, clock, mail, say } = comments()
    const ann = await say('Ann')
    const bob = await say('Bob')
    await sallyport.dispatches.cancel(ann.dispatchId)
    expect(await say('Cem')).toMatchObject({ deliveryId: ann.deliveryId, eventCount: 2 })
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(mail.sent).toMatchObject([{ dispatchId: bob.dispatchId, content: { text: 'Bob;Cem; last: Cem' } }])
    expect((await sallyport.dispatches.list({ status: 'sent' })).items).toHaveLength(2)
  })

  it('cancelling an event makes room for another one in a full digest', async () => {
    const { sallyport, say } = comments()
    const said = [await say('Ann'), await say('Bob'), await say('Cem')]
    await sallyport.dispatches.cancel(said[1]?.dispatchId ?? '')
    expect(await say('Dan')).toMatchObject({ deliveryId: said[0]?.deliveryId, eventCount: 3 })
  })

  it('cancelling the last event cancels the digest', async () => {
    const { sallyport, clock, mail, say } = comments()
    const said = [await say('Ann'), await say('Bob')]
    for (const { dispatchId } of said) {
      expect((await sallyport.dispatches.cancel(dispatchId))?.cancelled).toHaveLength(1)
    }
    expect(await say('Cem', 't2')).toMatchObject({ eventCount: 1 })
    const again = await say('Dan')
    expect([again.eventCount, again.deliveryId === said[0]?.deliveryId]).toEqual([1, false])
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(contents(mail)).toHaveLength(2)
    expect((await sallyport.dispatches.list({ status: 'cancelled' })).items).toHaveLength(2)
  })
})

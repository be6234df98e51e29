import { describe, expect, it } from 'vitest'
import type { DispatchView } from '../../../src/model/dispatch.ts'
import type { DeliveryPolicy } from '../../../src/ports/delivery-policy.ts'
import { ends } from '../../compose/composed.ts'
import { comments, contents, HOUR } from './comments.ts'

describe('a digest and a policy', () => {
  it('A digest spends a limit once, however many events join it', async () => {
    const limits = [{ key: 'k', max: 1, windowMs: 10 * HOUR }]
    const { addComment } = comments({ policy: { decide: () => ({ verdict: 'send', limits }) } })
    expect(await addComment('Ann')).toMatchObject({ status: 'queued', eventCount: 1 })
    expect(await addComment('Bob')).toMatchObject({ status: 'queued', eventCount: 2 })
    expect(await addComment('Cem', 't2')).toMatchObject({ status: 'skipped', reason: 'throttled' })
    expect(await addComment('Dan')).toMatchObject({ status: 'queued', eventCount: 3 })
  })

  it('A digest skips events of recipients that opted out, and asks the policy again before it is sent', async () => {
    let verdict: 'send' | 'opted_out' = 'opted_out'
    const decide: DeliveryPolicy['decide'] = () =>
      verdict === 'send' ? { verdict } : { verdict: 'skip', reason: verdict }
    const { sallyport, clock, mail, addComment } = comments({ policy: { decide } })
    expect(await addComment('Ann')).toMatchObject({ status: 'skipped', reason: 'opted_out' })
    verdict = 'send'
    const { dispatchId } = await addComment('Bob')
    verdict = 'opted_out'
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(mail.sent).toEqual([])
    expect(ends((await sallyport.dispatches.get(dispatchId)) as DispatchView)).toEqual(['mail: skipped opted_out'])
  })
})

describe('cancelling an event of a digest', () => {
  it('Cancelling one event of a digest removes only that event', async () => {
    const { sallyport, clock, mail, addComment } = comments()
    const [ann, bob, cem] = [await addComment('Ann'), await addComment('Bob'), await addComment('Cem')]
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

  it('Cancelling the first event of a digest keeps the digest for the others', async () => {
    const { sallyport, clock, mail, addComment } = comments()
    const ann = await addComment('Ann')
    const bob = await addComment('Bob')
    await sallyport.dispatches.cancel(ann.dispatchId)
    expect(await addComment('Cem')).toMatchObject({ deliveryId: ann.deliveryId, eventCount: 2 })
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(mail.sent).toMatchObject([{ dispatchId: bob.dispatchId, content: { text: 'Bob;Cem; last: Cem' } }])
    expect((await sallyport.dispatches.list({ status: 'sent' })).items).toHaveLength(2)
  })

  it('Cancelling an event makes room for another one in a full digest', async () => {
    const { sallyport, addComment } = comments()
    const answers = [await addComment('Ann'), await addComment('Bob'), await addComment('Cem')]
    await sallyport.dispatches.cancel(answers[1]?.dispatchId ?? '')
    expect(await addComment('Dan')).toMatchObject({ deliveryId: answers[0]?.deliveryId, eventCount: 3 })
  })

  it('Cancelling the last event cancels the digest', async () => {
    const { sallyport, clock, mail, addComment } = comments()
    const answers = [await addComment('Ann'), await addComment('Bob')]
    for (const { dispatchId } of answers) {
      expect((await sallyport.dispatches.cancel(dispatchId))?.cancelled).toHaveLength(1)
    }
    expect(await addComment('Cem', 't2')).toMatchObject({ eventCount: 1 })
    const again = await addComment('Dan')
    expect([again.eventCount, again.deliveryId === answers[0]?.deliveryId]).toEqual([1, false])
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(contents(mail)).toHaveLength(2)
    expect((await sallyport.dispatches.list({ status: 'cancelled' })).items).toHaveLength(2)
  })
})

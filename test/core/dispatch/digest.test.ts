import { describe, expect, it } from 'vitest'
import { ends, took } from '../../compose/composed.ts'
import { handled } from '../../support/handled.ts'
import { comments, contents, HOUR, JANE } from './comments.ts'

const JOHN = 'john@example.com'

describe('a digest', () => {
  it('A digest is one mail whose template gets all events', async () => {
    const { sallyport, clock, mail, addComment } = comments()
    for (const by of ['Ann', 'Bob', 'Cem']) {
      await addComment(by)
      clock.advance(1_000)
    }
    clock.advance(HOUR - 3_001)
    await sallyport.worker.runDue()
    expect(mail.sent).toEqual([])
    clock.advance(1)
    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 1 })
    expect(contents(mail)).toEqual([{ subject: '3 new in t1', text: 'Ann;Bob;Cem; last: Cem' }])
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(mail.sent).toHaveLength(1)
  })

  it('The answer to a digest event shows one delivery with the events so far, due after the first window', async () => {
    const { sallyport, clock, addComment } = comments()
    const first = await addComment('Ann')
    clock.advance(60_000)
    const second = await addComment('Bob')
    const third = await addComment('Cem')
    expect([first, second, third].map(({ eventCount }) => eventCount)).toEqual([1, 2, 3])
    expect([second, third].map(({ deliveryId }) => deliveryId)).toEqual([first.deliveryId, first.deliveryId])
    expect(new Set([first, second, third].map(({ dispatchId }) => dispatchId)).size).toBe(3)
    for (const { status, nextAttemptAt } of [first, second, third]) {
      expect([status, nextAttemptAt]).toEqual(['queued', '2026-11-21T09:00:00.000Z'])
    }
    for (const { dispatchId } of [first, second, third]) {
      expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
        status: 'queued',
        deliveries: [{ deliveryId: first.deliveryId, eventCount: 3 }],
      })
    }
  })

  it('Sending a digest marks the deliveries of all its dispatches as sent', async () => {
    const { sallyport, clock, addComment } = comments()
    const answers = [await addComment('Ann'), await addComment('Bob')]
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    for (const { dispatchId } of answers) {
      expect(await sallyport.dispatches.get(dispatchId)).toMatchObject({
        status: 'sent',
        deliveries: [{ attempts: 1 }],
      })
    }
  })

  it('Each key, recipient, tenant and channel has its own digest', async () => {
    const { sallyport, clock, mail, addComment } = comments()
    const answers = [
      await addComment('Ann'),
      await addComment('Bob', 't2'),
      await addComment('Cem', 't1', JOHN),
      await addComment('Dan', 't1', JANE, 'acme'),
      await addComment('Eve'),
    ]
    expect(answers.map(({ eventCount }) => eventCount)).toEqual([1, 1, 1, 1, 2])
    expect(new Set(answers.map(({ deliveryId }) => deliveryId)).size).toBe(4)
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(
      contents(mail)
        .map((content) => content.text)
        .sort(),
    ).toEqual(['Ann;Eve; last: Eve', 'Bob; last: Bob', 'Cem; last: Cem', 'Dan; last: Dan'])
  })

  it('The event after the maximum opens another digest', async () => {
    const { sallyport, clock, mail, addComment } = comments()
    const answers = []
    for (const by of ['Ann', 'Bob', 'Cem', 'Dan', 'Eve']) answers.push(await addComment(by))
    expect(answers.map(({ eventCount }) => eventCount)).toEqual([1, 2, 3, 1, 2])
    expect(new Set(answers.map(({ deliveryId }) => deliveryId)).size).toBe(2)
    clock.advance(HOUR)
    await sallyport.worker.runDue()
    expect(
      contents(mail)
        .map((content) => content.subject)
        .sort(),
    ).toEqual(['2 new in t1', '3 new in t1'])
  })

  it('A digest takes no more events after its window, sent or not', async () => {
    const { clock, addComment } = comments()
    const first = await addComment('Ann')
    clock.advance(HOUR)
    const second = await addComment('Bob')
    expect([second.eventCount, second.deliveryId === first.deliveryId]).toEqual([1, false])
  })

  it('A digest refuses a delay because it has a window', async () => {
    const { sallyport } = comments()
    const event = { eventType: 'comment', recipient: JANE, eventData: { by: 'Ann' } } as const
    expect(await sallyport.dispatch(event, { delayMs: HOUR })).toMatchObject({ status: 422 })
    expect(await sallyport.dispatch(event, { delayMs: 0 })).toMatchObject({ status: 202 })
  })

  it('A digest without fields is sent as { events }, channel by channel', async () => {
    const { sallyport, clock, hook, mail } = comments()
    for (const by of ['Ann', 'Bob', 'Cem']) {
      await sallyport.dispatch({ eventType: 'raw', recipient: JANE, eventData: { by } })
    }
    clock.advance(HOUR)
    expect(await sallyport.worker.runDue()).toMatchObject({ sent: 2 })
    expect(contents(hook)).toEqual([
      {
        data: {
          events: [
            { by: 'Ann', thread: 't1' },
            { by: 'Bob', thread: 't1' },
            { by: 'Cem', thread: 't1' },
          ],
        },
      },
    ])
    expect(contents(mail)).toEqual([{ text: 3 }])
  })

  it('A dry run shows the digest of the event alone and opens none', async () => {
    const { sallyport, addComment } = comments()
    const body = { eventType: 'comment', recipient: JANE, eventData: { by: 'Ann' } }
    const dry = { headers: {}, body, query: { dryRun: 'true' } }
    expect(await handled(sallyport.endpoints, 'dispatch', { id: 'app', tenant: 'default' }, dry)).toMatchObject({
      status: 200,
      body: {
        deliveries: [
          {
            channel: 'mail',
            status: 'queued',
            content: { subject: '1 new in t1', text: 'Ann; last: Ann' },
            nextAttemptAt: '2026-11-21T09:00:00.000Z',
          },
        ],
      },
    })
    const raw = { ...dry, body: { ...body, eventType: 'raw', channel: 'hook' } }
    expect(await handled(sallyport.endpoints, 'dispatch', { id: 'app', tenant: 'default' }, raw)).toMatchObject({
      body: { deliveries: [{ content: { data: { events: [{ by: 'Ann', thread: 't1' }] } } }] },
    })
    expect(await addComment('Bob')).toMatchObject({ eventCount: 1 })
  })

  it('An event without data that a template needs is refused before it joins a digest', async () => {
    const { sallyport, addComment } = comments()
    await addComment('Ann')
    const bad = { eventType: 'comment', recipient: JANE, eventData: JSON.parse('{"thread":"t1"}') } as const
    expect(await sallyport.dispatch(bad)).toMatchObject({ status: 422 })
    expect(await addComment('Bob')).toMatchObject({ eventCount: 2 })
  })

  it.each<[string, unknown]>([
    ['not text', 5],
    ['undefined', undefined],
    ['too long', 'k'.repeat(513)],
  ])('A digest whose key is %s fails its channel', async (_, thread) => {
    const { sallyport } = comments()
    const eventData = JSON.parse(JSON.stringify({ thread }))
    expect(ends(took(await sallyport.dispatch({ eventType: 'picky', recipient: JANE, eventData })))).toEqual([
      'mail: failed template_error',
    ])
  })

  it('A repeated idempotency key adds no event to a digest', async () => {
    const { sallyport, addComment } = comments()
    const event = { eventType: 'comment', recipient: JANE, eventData: { by: 'Ann' } } as const
    const first = took(await sallyport.dispatch(event, { idempotencyKey: 'k' }))
    await addComment('Bob')
    expect(took(await sallyport.dispatch(event, { idempotencyKey: 'k' }))).toEqual({ ...first, duplicate: true })
    expect(await addComment('Cem')).toMatchObject({ eventCount: 3 })
  })
})

import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { isSallyportError } from '../../src/errors.ts'
import { composed } from '../compose/composed.ts'

const events = defineEvents({
  order: { data: v.object({ total: v.number() }), channels: { a: {} } },
})
const ORDER = { eventType: 'order', recipient: 'ada@example.com', eventData: { total: 5 } } as const

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
}

describe('dispatchOrThrow', () => {
  it('Returns the answer of an accepted event', async () => {
    const { sallyport } = composed(events)
    const answer = await sallyport.dispatchOrThrow(ORDER, { idempotencyKey: 'k' })
    expect(answer).toMatchObject({ duplicate: false, deliveries: [{ channel: 'a', status: 'queued' }] })
    expect(await sallyport.dispatchOrThrow(ORDER, { idempotencyKey: 'k' })).toMatchObject({ duplicate: true })
  })

  it.each([
    ['event_unknown', 422, { ...ORDER, eventType: 'canary' }],
    ['validation_failed', 422, { ...ORDER, eventData: { total: 'canary' } }],
    ['recipient_unresolvable', 422, { ...ORDER, recipient: 'canary' }],
    ['channel_unknown', 422, { ...ORDER, channel: 'canary' }],
  ])('Throws %s as a SallyportError without the values of the event', async (code, status, event) => {
    const { sallyport } = composed(events)
    const thrown = await thrownBy(sallyport.dispatchOrThrow(event as never))
    expect(isSallyportError(thrown)).toBe(true)
    expect(thrown).toMatchObject({ name: 'SallyportError', code, status, errors: [{ pointer: expect.any(String) }] })
    expect(thrown).toHaveProperty(
      'message',
      expect.stringMatching(new RegExp(`^The dispatch was refused as ${code}: `)),
    )
    expect(String(thrown)).not.toContain('canary')
  })

  it('Throws a fault of a port with the error of the port as its cause', async () => {
    const cause = new Error('canary')
    const broken = { find: () => Promise.reject(cause) }
    const { sallyport, logger } = composed(events, { recipients: broken })
    const thrown = await thrownBy(sallyport.dispatchOrThrow({ ...ORDER, recipient: 'ada' }))
    expect(thrown).toMatchObject({ code: 'directory_unavailable', status: 503, cause })
    expect(thrown).not.toHaveProperty('errors')
    expect(String(thrown)).not.toContain('canary')
    expect(logger.lines.map(({ event }) => event)).toEqual(['request.failed'])
  })
})

describe('the log of a refused dispatch of the host', () => {
  it('Names the event and the faults without values', async () => {
    const { sallyport, logger } = composed(events)
    const answer = await sallyport.dispatch({ ...ORDER, eventData: { total: 'canary' } } as never)
    expect(answer.ok).toBe(false)
    const fields = {
      eventType: 'order',
      code: 'validation_failed',
      detail: 'One place in the body cannot be accepted.',
      errors: '/eventData/total: expected number',
    }
    expect(logger.lines).toEqual([{ level: 'warn', event: 'dispatch.refused', fields }])
  })

  it.each<[string, unknown[], object]>([
    [
      'a misnamed field',
      [{ event: 'order', recipient: 'ada@example.com' }],
      {
        detail: '2 places in the body cannot be accepted.',
        errors: '/eventType: is required, /event: is not known here; did you mean eventType?',
      },
    ],
    [
      'a misspelt event',
      [{ ...ORDER, eventType: 'ordr' }],
      {
        detail: 'No event has this name. Near: order.',
        errors: '/eventType: No event has this name. Near: order.',
      },
    ],
    [
      'an unknown option',
      [ORDER, { trx: {} }],
      { detail: 'trx is not an option; the options are: tenant, idempotencyKey, delayMs, store.' },
    ],
    [
      'an event type before the event',
      ['order', { recipient: 'canary@example.com' }],
      { detail: 'The first argument is a string; must be the whole event: { eventType, recipient, eventData? }.' },
    ],
    [
      'no event',
      [],
      { detail: 'The first argument is undefined; must be the whole event: { eventType, recipient, eventData? }.' },
    ],
  ])('Says what the answer says of %s', async (_, given, fields) => {
    const { sallyport, logger } = composed(events)
    await Reflect.apply(sallyport.dispatch, undefined, given)
    expect(logger.lines).toMatchObject([{ event: 'dispatch.refused', fields }])
    expect(JSON.stringify(logger.lines)).not.toContain('canary')
  })

  it('Names no option whose name may be data, and cuts a long list', async () => {
    const { sallyport, logger } = composed(events)
    const options = Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`option${'x'.repeat(at % 20)}${'y'.repeat(at)}`, 1]),
    )
    await sallyport.dispatch(ORDER, { 'canary@example.com': 1 } as never)
    await sallyport.dispatch(ORDER, options as never)
    const [first, second] = logger.lines.map(({ fields }) => fields?.detail ?? '')
    expect(first).toBe('a name is not an option; the options are: tenant, idempotencyKey, delayMs, store.')
    expect(second?.length).toBeLessThanOrEqual(1_000)
  })

  it('Does not repeat an event type that it does not know, and lists those that it knows', async () => {
    const { sallyport, logger } = composed(events)
    await sallyport.dispatch({ ...ORDER, eventType: 'canary.example' } as never)
    const detail = 'No event has this name. The events are: order.'
    const errors = '/eventType: No event has this name.'
    expect(logger.lines).toMatchObject([
      { event: 'dispatch.refused', fields: { code: 'event_unknown', detail, errors } },
    ])
    expect(JSON.stringify(logger.lines)).not.toContain('canary')
  })

  it('Is silent for an accepted event', async () => {
    const { sallyport, logger } = composed(events)
    await sallyport.dispatch(ORDER)
    expect(logger.lines).toEqual([])
  })
})

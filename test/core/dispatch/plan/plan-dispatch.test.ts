import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { jsonLogic } from '../../../../src/engines/json-logic.ts'
import type { DispatchStatus } from '../../../../src/model/dispatch.ts'
import type { Channel } from '../../../../src/ports/channel.ts'
import type { EventCatalog } from '../../../../src/ports/event-catalog.ts'
import { testDeps } from '../../../support/deps.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../../support/stray-rejections.ts'
import { accepted, braces, outcomes, refused, stored } from '../dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com', eventData: { total: 5 } }

function depsFor(events: EventCatalog, channels: Readonly<Record<string, Channel>> = {}, rest = {}) {
  return testDeps({ a: recordingChannel(), b: recordingChannel(), ...channels }, { events, ...rest })
}

/** The result of a condition on channel `a`; channel `b` has none. */
async function withCondition(when: unknown) {
  const events = defineEvents({ e: { channels: { a: { when: when as () => boolean }, b: {} } } })
  const deps = depsFor(events)
  return { answer: await accepted(deps, BODY), outcomes: await outcomes(deps) }
}

/** The result of a field on channel `a`; channel `b` renders. */
async function withField(field: unknown) {
  const events = defineEvents(
    { e: { channels: { a: { text: field as string }, b: { text: () => 'fine' } } } },
    { templates: braces },
  )
  const deps = depsFor(events)
  return { answer: await accepted(deps, BODY), outcomes: await outcomes(deps), stored: await stored(deps) }
}

describe('a condition', () => {
  it('A condition that holds queues its channel', async () => {
    expect((await withCondition(() => true)).outcomes).toEqual(['a: queued 0', 'b: queued 0'])
  })

  it('A false condition skips only its channel, with a trace', async () => {
    const { answer } = await withCondition(() => false)
    expect(answer).toMatchObject({ status: 'queued' })
    expect(answer.deliveries[0]).toEqual({
      deliveryId: 'dlv_2',
      channel: 'a',
      status: 'skipped',
      reason: 'condition_false',
      attempts: 0,
      trace: [{ rule: 'function', result: false }],
    })
    expect(answer.deliveries[1]).toMatchObject({ channel: 'b', status: 'queued' })
  })

  it('The trace of a JSON rule shows the compared values', async () => {
    const events = defineEvents(
      { e: { channels: { a: { when: { '>=': [{ var: 'data.total' }, 100] } }, b: {} } } },
      { conditions: jsonLogic() },
    )
    const { deliveries } = await accepted(depsFor(events), BODY)
    expect(deliveries[0]).toMatchObject({
      reason: 'condition_false',
      trace: [{ rule: '>=', path: 'data.total', expected: 100, actual: 5, result: false }],
    })
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['gives 1', () => 1],
    ['gives a string', () => 'true'],
    ['gives nothing', () => undefined],
    ['gives null', () => null],
    ['gives a promise', async () => true],
    ['gives a promise of false', async () => false],
  ])('A condition that %s fails only its channel', async (_, when) => {
    const { answer, outcomes } = await withCondition(when)
    expect(outcomes).toEqual(['a: failed condition_error 0', 'b: queued 0'])
    expect(answer.status).toBe('partial')
  })

  it('A condition that returns a rejected promise leaves no unhandled rejection', async () => {
    const { outcomes } = await withoutStrayRejections(() =>
      withCondition(async () => Promise.reject(new Error('late'))),
    )
    expect(outcomes).toEqual(['a: failed condition_error 0', 'b: queued 0'])
  })

  it('A condition is evaluated before the address and the content', async () => {
    const events = defineEvents({ e: { channels: { a: { when: () => false, text: () => fail() } } } })
    const a = recordingChannel(undefined, { address: () => fail() })
    const deps = depsFor(events, { a })
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual(['a: skipped condition_false 0'])
  })

  it('A false condition of the event skips every channel', async () => {
    const events = defineEvents({ e: { when: () => false, channels: { a: {}, b: { when: () => true } } } })
    const answer = await accepted(depsFor(events), BODY)
    expect(answer).toMatchObject({
      status: 'skipped',
      deliveries: [
        { channel: 'a', status: 'skipped', reason: 'condition_false', trace: [{ rule: 'function', result: false }] },
        { channel: 'b', status: 'skipped', reason: 'condition_false', trace: [{ rule: 'function', result: false }] },
      ],
    })
  })

  it('A condition of the event that throws fails every channel', async () => {
    const events = defineEvents({ e: { when: () => fail(), channels: { a: {}, b: {} } } })
    const deps = depsFor(events)
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'failed' })
    expect(await outcomes(deps)).toEqual(['a: failed condition_error 0', 'b: failed condition_error 0'])
  })

  it('A condition of the event that holds leaves the decision to those of the channels', async () => {
    const events = defineEvents({ e: { when: () => true, channels: { a: { when: () => false }, b: {} } } })
    const deps = depsFor(events)
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual(['a: skipped condition_false 0', 'b: queued 0'])
  })

  it('A condition receives the data and the recipient', async () => {
    const seen: unknown[] = []
    const events = defineEvents({
      e: {
        data: v.object({ total: v.number() }),
        channels: {
          a: {
            when: (facts) => {
              seen.push(facts)
              return true
            },
          },
        },
      },
    })
    await accepted(depsFor(events), BODY)
    const recipient = { id: 'jane@example.com', email: 'jane@example.com' }
    expect(seen).toEqual([{ data: { total: 5 }, recipient, events: [{ total: 5 }] }])
  })
})

describe('content', () => {
  it('Content has the rendered fields, or any JSON values of functions', async () => {
    const events = defineEvents(
      {
        e: {
          channels: {
            a: {
              subject: 'You owe {{ data.total }}',
              html: '<b>{{ data.name }}</b>',
              text: '{{ data.name }}',
              blocks: () => [{ type: 'text', text: null }],
            },
          },
        },
      },
      { templates: braces },
    )
    const deps = depsFor(events)
    await accepted(deps, { ...BODY, eventData: { total: 5, name: '<i>' } })
    expect((await stored(deps))[0]?.deliveries[0]?.content).toEqual({
      subject: 'You owe 5',
      html: '<b>&lt;i></b>',
      text: '<i>',
      blocks: [{ type: 'text', text: null }],
    })
  })

  it('Content of a channel without fields is the data', async () => {
    const deps = depsFor(defineEvents({ e: { channels: { a: {} } } }))
    await accepted(deps, BODY)
    expect((await stored(deps))[0]?.deliveries[0]?.content).toEqual({ data: { total: 5 } })
  })

  it.each<[string, unknown]>([
    ['a template that fails', '{{ fail }}'],
    [
      'a function that throws',
      () => {
        throw new Error('no')
      },
    ],
    ['a function that gives nothing', () => undefined],
    ['a function that gives a function', () => () => 1],
    ['a function that gives a bigint', () => 1n],
    [
      'a function that gives a cyclic object',
      () => {
        const circle: Record<string, unknown> = {}
        circle.self = circle
        return circle
      },
    ],
  ])('A field with %s fails only its channel', async (_, field) => {
    const { answer, outcomes } = await withField(field)
    expect(outcomes).toEqual(['a: failed template_error 0', 'b: queued 0'])
    expect(answer.status).toBe('partial')
  })

  it('A field function that returns a rejected promise leaves no unhandled rejection', async () => {
    const { outcomes } = await withoutStrayRejections(() => withField(async () => Promise.reject(new Error('late'))))
    expect(outcomes).toEqual(['a: failed template_error 0', 'b: queued 0'])
  })

  it('Content is a copy: later changes by a field function do not reach the store', async () => {
    const kept = { words: ['one'] }
    const { stored } = await withField(() => {
      queueMicrotask(() => kept.words.push('two'))
      return kept
    })
    expect(stored[0]?.deliveries[0]?.content).toEqual({ text: { words: ['one'] } })
  })
})

describe('missing data of templates', () => {
  const missing = (fields: Readonly<Record<string, string>>, more: Readonly<Record<string, object>> = {}) =>
    depsFor(defineEvents({ e: { channels: { a: fields, ...more } } }, { templates: braces }))

  it('A template that reads missing data refuses the event with each place once', async () => {
    const deps = missing({ subject: '{{ data.order.id }}', text: '{{ data.name/of }}' }, { b: { text: () => 'x' } })
    expect(await refused(deps, BODY)).toMatchObject({
      status: 422,
      code: 'template_data_missing',
      detail: 'A template reads data that was not sent.',
      errors: [
        { pointer: '/eventData/order/id', code: 'missing_template_data', detail: 'a template reads data.order.id' },
        { pointer: '/eventData/name~1of', code: 'missing_template_data', detail: 'a template reads data.name/of' },
      ],
    })
    expect(await stored(deps)).toEqual([])
    const twice = missing({ subject: '{{ data.name }}', text: '{{ data.name }}' })
    expect((await refused(twice, BODY)).errors).toHaveLength(1)
  })

  it('Missing data of a skipped channel do not refuse the event', async () => {
    const deps = missing({ text: '{{ data.name }}' }, { b: { text: () => 'x' } })
    const skipping = {
      ...deps,
      channels: { ...deps.channels, a: recordingChannel(undefined, { address: () => undefined }) },
    }
    await accepted(skipping, BODY)
    expect(await outcomes(skipping)).toEqual(['a: skipped no_address 0', 'b: queued 0'])
  })

  it('A template that reads an unknown recipient attribute fails only its channel', async () => {
    const deps = missing({ text: '{{ recipient.attributes.name }}' }, { b: { text: () => 'x' } })
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual(['a: failed template_error 0', 'b: queued 0'])
  })
})

describe('the status of a dispatch', () => {
  const never = () => false
  const broken = () => fail()
  it.each<[DispatchStatus, readonly (() => boolean)[]]>([
    ['queued', [() => true]],
    ['queued', [() => true, never]],
    ['skipped', [never, never]],
    ['partial', [() => true, broken]],
    ['failed', [broken, never]],
    ['failed', [broken]],
  ])('The status of a dispatch follows from its channels: %s, case %#', async (status, conditions) => {
    const channels = Object.fromEntries(conditions.map((when, index) => [`c${index}`, { when }]))
    const configured = Object.fromEntries(Object.keys(channels).map((name) => [name, recordingChannel()]))
    const events = defineEvents({ e: { channels } })
    expect(await accepted(depsFor(events, configured), BODY)).toMatchObject({ status })
  })
})

function fail(): never {
  throw new Error('no')
}

import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { swapRemoveList } from '../../../src/core/delivery/swap-remove-list.ts'
import { createWorker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { localQueue } from '../../../src/queues/local.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'
import { accepted, claimOne, outcomes } from '../dispatch/dispatching.ts'
import { attempt, attemptClaimed, delivery, LEASE, leased, pass, settled, waitForDue } from './attempting.ts'

const WINDOW = 60_000
const digest = { windowMs: WINDOW }
const data = v.object({ n: v.pipe(v.number(), v.minValue(1)) })

/** A digest whose text has the number of events and the last one. */
const counted: EventCatalog = defineEvents({
  e: {
    data,
    digest,
    channels: {
      a: {
        text: ({ events, data: last, recipient }) =>
          `${recipient.id}: ${events.length}, ${last.n} of ${events.map(({ n }) => n)}`,
      },
    },
  },
})

/** A digest of the events 1, 2 and 3 after its window. */
async function digested(events: EventCatalog = counted, rest = {}): Promise<{ deps: TestDeps; a: RecordingChannel }> {
  const a = recordingChannel()
  const deps = testDeps({ a }, { events, ...rest })
  for (const n of [1, 2, 3]) {
    await accepted(deps, { eventType: 'e', recipient: 'jane@example.com', eventData: { n } })
  }
  deps.clock.advance(WINDOW)
  return { deps, a }
}

describe('a digest', () => {
  it('A digest is rendered from all its events, queued again, and sent as its first attempt', async () => {
    const { deps, a } = await digested()
    expect(await attempt(deps)).toBe('released')
    const rendered = { content: { text: 'jane@example.com: 3, 3 of 1,2,3' } }
    const { dispatchId } = await claimedHead(deps)
    expect(a.sent).toEqual([])
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toMatchObject([{ ...rendered, attempt: 1, dispatchId, to: 'jane@example.com' }])
  })

  it('A digest keeps its rendered content when the catalogue changes', async () => {
    const { deps, a } = await digested()
    await attempt(deps)
    const changed = defineEvents({ e: { channels: { a: { text: () => 'changed' } } } })
    expect(await attempt({ ...deps, events: changed })).toBe('sent')
    expect(a.sent[0]?.content).toEqual({ text: 'jane@example.com: 3, 3 of 1,2,3' })
  })

  it('A digest on a channel without fields is sent as the data of its events', async () => {
    const { deps, a } = await digested(defineEvents({ e: { data, digest, channels: { a: {} } } }))
    await attempt(deps)
    await attempt(deps)
    expect(a.sent[0]?.content).toEqual({ data: { events: [{ n: 1 }, { n: 2 }, { n: 3 }] } })
  })

  it('A digest is rendered from the output of the schema, which checks its events again', async () => {
    const doubled = v.object({
      n: v.pipe(
        v.number(),
        v.transform((n) => n * 2),
      ),
    })
    const { deps, a } = await digested(
      defineEvents({
        e: { data: doubled, digest, channels: { a: { text: ({ events }) => `${events.map(({ n }) => n)}` } } },
      }),
    )
    await attempt(deps)
    await attempt(deps)
    expect(a.sent[0]?.content).toEqual({ text: '2,4,6' })
  })

  it.each<[string, EventCatalog]>([
    [
      'whose events no longer fit the schema',
      defineEvents({ e: { data: v.object({ n: v.pipe(v.number(), v.minValue(4)) }), digest, channels: { a: {} } } }),
    ],
    [
      'whose template throws',
      defineEvents({
        e: {
          data,
          digest,
          channels: {
            a: {
              text: () => {
                throw new Error('jane')
              },
            },
          },
        },
      }),
    ],
    ['whose channel is gone from the event', defineEvents({ e: { data, digest, channels: { b: {} } } })],
  ])('A digest %s fails without an attempt', async (_, events) => {
    const { deps, a } = await digested()
    expect(await attempt({ ...deps, events })).toBe('failed')
    expect(a.sent).toEqual([])
    expect(await outcomes(deps)).toEqual(['a: failed template_error 0'])
  })

  it.each([
    [2, '2,3', 1],
    [3, '3', 2],
  ])(
    'A digest leaves out events below %d, which no longer fit the schema, and logs their number',
    async (least, left, events) => {
      const stricter = defineEvents({
        e: {
          data: v.object({ n: v.pipe(v.number(), v.minValue(least)) }),
          digest,
          channels: { a: { text: ({ events }) => `${events.map(({ n }) => n)}` } },
        },
      })
      const { deps, a } = await digested()
      expect(await attempt({ ...deps, events: stricter })).toBe('released')
      expect(await attempt(deps)).toBe('sent')
      expect(a.sent[0]?.content).toEqual({ text: left })
      const place = { deliveryId: 'dlv_2', dispatchId: 'dsp_1', channel: 'a' }
      expect(deps.logger.lines[0]).toEqual({
        level: 'warn',
        event: 'delivery.event_left_out',
        fields: { ...place, events },
      })
      expect(deps.logger.lines.map(({ event }) => event)).not.toContain('delivery.failed')
    },
  )

  it('A data schema that throws leaves its event out of the digest, and onError gets the error', async () => {
    const reports: unknown[] = []
    const hooks = { onError: (error: unknown, context: object) => reports.push([error, context]) }
    const thrown = new TypeError('jane')
    const check = v.check((n: number) => {
      if (n === 2) throw thrown
      return true
    })
    const events = defineEvents({
      e: { data: v.object({ n: v.pipe(v.number(), check) }), digest, channels: { a: {} } },
    })
    const { deps, a } = await digested()
    expect(await attempt({ ...deps, events, hooks })).toBe('released')
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent[0]?.content).toEqual({ data: { events: [{ n: 1 }, { n: 3 }] } })
    const place = { eventType: 'e', channel: 'a', deliveryId: 'dlv_2', dispatchId: 'dsp_1' }
    expect(reports).toEqual([[thrown, { operation: 'data_schema', ...place }]])
    expect(deps.logger.lines.slice(0, 2)).toMatchObject([
      { event: 'event.failed', fields: { detail: 'the data schema threw', cause: 'TypeError', ...place } },
      { event: 'delivery.event_left_out', fields: { events: 1 } },
    ])
  })

  it('A digest template gets the data of the last event that fits the schema', async () => {
    const early = defineEvents({
      e: {
        data: v.object({ n: v.pipe(v.number(), v.maxValue(2)) }),
        digest,
        channels: { a: { text: ({ data: last }) => `${last.n}` } },
      },
    })
    const { deps, a } = await digested()
    await attempt({ ...deps, events: early })
    await attempt(deps)
    expect(a.sent[0]?.content).toEqual({ text: '2' })
  })

  it('A digest whose template reads missing data fails', async () => {
    const missing: EventCatalog = {
      eventTypes: ['e'],
      find: (eventType) => {
        const event = counted.find(eventType)
        const text = () => ({ outcome: 'missing', path: 'data.gone' }) as const
        return event && { ...event, channels: [{ channel: 'a', fields: { text } }] }
      },
    }
    const { deps } = await digested()
    expect(await attempt({ ...deps, events: missing })).toBe('failed')
    expect(await outcomes(deps)).toEqual(['a: failed template_error 0'])
  })

  it('A digest of an unknown event waits a minute for another worker', async () => {
    const { deps } = await digested()
    const other = defineEvents({ other: { channels: { a: {} } } })
    expect(await attempt({ ...deps, events: other })).toBe('released')
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 0, dueAt: deps.clock.now() + 60_000 })
    expect(deps.logger.lines).toMatchObject([
      { level: 'warn', event: 'delivery.event_unknown', fields: { deliveryId: expect.any(String), channel: 'a' } },
      { event: 'delivery.queued' },
    ])
  })

  it('A digest of an unknown event waits no longer than its expiry', async () => {
    const { deps } = await digested(counted, { expiresInMs: 20_000 })
    await attempt({ ...deps, events: defineEvents({ other: { channels: { a: {} } } }) })
    expect(await waitForDue(deps)).toBe(20_000)
  })

  it('A digest whose schema check is pending at a stop is due at once, and no error is logged', async () => {
    const { deps } = await digested()
    const event = counted.find('e')
    const find = () => event && { ...event, checkData: () => new Promise<never>(() => {}) }
    const stops = swapRemoveList<() => void>()
    const result = attempt({ ...deps, events: { eventTypes: ['e'], find } }, { stops })
    await settled(deps.clock)
    for (const stop of stops) stop()
    await pass(deps.clock, 1_000)
    expect(await result).toBe('released')
    expect(await waitForDue(deps)).toBe(0)
    expect(deps.logger.lines).toMatchObject([{ event: 'delivery.queued', fields: { delayMs: 0 } }])
  })

  it.each<[string, () => Promise<never>]>([
    ['throws', () => Promise.reject(new TypeError('no such row'))],
    ['never answers', () => new Promise(() => {})],
  ])('A digest waits a minute when the schema check %s', async (_, checkData) => {
    const { deps } = await digested()
    const events: EventCatalog = {
      eventTypes: ['e'],
      find: (eventType) => {
        const event = counted.find(eventType)
        return event && { ...event, checkData }
      },
    }
    const result = attemptClaimed(await claimOne(deps, LEASE), leased(deps), { ...deps, events }, { timeoutMs: 2_000 })
    await settled(deps.clock)
    await pass(deps.clock, 3_000)
    expect(await result).toBe('released')
    expect(deps.logger.lines).toMatchObject([
      { level: 'error', event: 'delivery.render_failed', fields: { cause: expect.any(String) } },
      { event: 'delivery.queued', fields: { delayMs: 60_000 } },
    ])
  })

  it('A digest is skipped when its recipient has opted out', async () => {
    const { deps, a } = await digested()
    const policy = { decide: () => ({ verdict: 'skip', reason: 'opted_out' }) as const }
    expect(await attempt({ ...deps, policy })).toBe('skipped')
    expect(a.sent).toEqual([])
  })

  it('runDue counts rendering and sending a digest as one attempt', async () => {
    const { deps, a } = await digested()
    const worker = createWorker({ ...deps, queue: localQueue(deps.clock) })
    expect(await worker.runDue()).toMatchObject({ attempted: 1, sent: 1 })
    expect(a.sent).toHaveLength(1)
  })
})

async function claimedHead({ store }: TestDeps): Promise<{ dispatchId: string }> {
  const { items } = await store.listDispatches({ tenant: 'default', limit: 10 })
  return { dispatchId: items.at(-1)?.dispatchId ?? '' }
}

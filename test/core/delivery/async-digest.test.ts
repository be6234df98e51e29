import { describe, expect, it } from 'vitest'
import type { AttemptOptions } from '../../../src/core/delivery/attempt.ts'
import { swapRemoveList } from '../../../src/core/delivery/swap-remove-list.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { accepted, outcomes } from '../dispatch/dispatching.ts'
import { ASYNC_RESULTS } from '../message/async-results.ts'
import { attempt, delivery, pass, settled, waitForDue } from './attempting.ts'

const WINDOW = 60_000
const LATE = 'the template function gave no value within 5 seconds'

/** A catalogue with the fields of one digest. */
function digestOf(fields: Readonly<Record<string, unknown>>): EventCatalog {
  return defineEvents({ e: { digest: { windowMs: WINDOW }, channels: { a: fields as never } } })
}

/** A digest of two events after its window. */
async function digested(rest = {}): Promise<{ deps: TestDeps; a: RecordingChannel }> {
  const a = recordingChannel()
  const deps = testDeps({ a }, { events: digestOf({ text: () => 'x' }), ...rest })
  for (const n of [1, 2]) await accepted(deps, { eventType: 'e', recipient: 'jane@example.com', eventData: { n } })
  deps.clock.advance(WINDOW)
  return { deps, a }
}

/** Attempts the digest, and lets 6 seconds pass for fields that are late. */
async function attempted(deps: TestDeps, options?: AttemptOptions): ReturnType<typeof attempt> {
  const result = attempt(deps, options)
  await settled(deps.clock)
  await pass(deps.clock, 4_999, 4_999)
  await pass(deps.clock, 2, 2)
  return result
}

describe.each(ASYNC_RESULTS)('a digest whose field function gives $name', ({ give, becomes }) => {
  it('A digest is sent, fails, or waits a minute when a field is late', async () => {
    const { deps, a } = await digested()
    const events = digestOf({ text: () => give(deps.clock), subject: async () => 'x' })
    const result = await withoutStrayRejections(() => attempted({ ...deps, events }))
    const failed = deps.logger.lines.filter(({ event }) => event === 'event.failed')
    if (becomes !== 'late' && 'value' in becomes) {
      expect([result, failed]).toEqual(['released', []])
      expect(await attempt(deps)).toBe('sent')
      expect(a.sent[0]?.content).toEqual({ text: becomes.value, subject: 'x' })
      return
    }
    const detail = becomes === 'late' ? LATE : becomes.detail
    expect(failed).toMatchObject([{ level: 'error', fields: { channel: 'a', field: 'text', detail } }])
    expect(await outcomes(deps)).toEqual([becomes === 'late' ? 'a: queued 0' : 'a: failed template_error 0'])
    expect(result).toBe(becomes === 'late' ? 'released' : 'failed')
    expect(a.sent).toEqual([])
  })
})

describe('a digest with a late field', () => {
  const never = () => new Promise(() => {})

  it('A digest with a late field waits a minute, is rendered again with all its events and sent as its first attempt', async () => {
    const { deps, a } = await digested()
    const result = attempted({ ...deps, events: digestOf({ text: never }) })
    expect(await result).toBe('released')
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 0 })
    expect(await waitForDue(deps)).toBe(60_000)
    const events = digestOf({ text: async ({ events }: { events: readonly unknown[] }) => `${events.length}` })
    expect(await attempted({ ...deps, events })).toBe('released')
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toMatchObject([{ content: { text: '2' }, attempt: 1 }])
  })

  it('A digest with a late field fails when another field fails', async () => {
    const { deps } = await digested()
    const fail = () => Promise.reject(new Error('canary'))
    expect(await attempted({ ...deps, events: digestOf({ a: never, b: fail, c: never }) })).toBe('failed')
    const lines = deps.logger.lines.filter(({ event }) => event === 'event.failed')
    expect(lines.map(({ fields }) => fields.field)).toEqual(['a', 'b', 'c'])
  })

  it('A digest whose field is pending at a stop is due at once', async () => {
    const { deps } = await digested()
    const stops = swapRemoveList<() => void>()
    const result = attempt({ ...deps, events: digestOf({ text: never }) }, { stops })
    await settled(deps.clock)
    for (const stop of stops) stop()
    await pass(deps.clock, 1_000)
    expect(await result).toBe('released')
    expect(await waitForDue(deps)).toBe(0)
  })

  it('A digest with a late field waits no longer than its expiry', async () => {
    const { deps } = await digested({ expiresInMs: 20_000 })
    await attempted({ ...deps, events: digestOf({ text: never }) })
    expect(await waitForDue(deps)).toBe(14_999)
  })
})

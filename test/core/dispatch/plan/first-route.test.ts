import { describe, expect, it } from 'vitest'
import { createWorker } from '../../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { viewDispatch } from '../../../../src/core/dispatch/dispatch-view.ts'
import type { SendOutcome } from '../../../../src/ports/channel.ts'
import { localQueue } from '../../../../src/queues/local.ts'
import { type TestDeps, testDeps } from '../../../support/deps.ts'
import { fc, runs } from '../../../support/properties.ts'
import { type RecordingChannel, recordingChannel } from '../../../support/recording-channel.ts'
import { accepted, braces, outcomes, stored } from '../dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com' }
const SENT: SendOutcome = { outcome: 'sent' }
const REJECTED: SendOutcome = { outcome: 'rejected', code: 'bad_address' }
const RETRY: SendOutcome = { outcome: 'retry', code: 'busy' }

/** Channels a, b and c with the given answers and two retries each. */
function depsFor(answers: readonly (readonly SendOutcome[])[], rest = {}) {
  const [a, b, c] = answers.map((given) => recordingChannel(given, { retrySchedule: [1_000, 2_000] }))
  const channels = { a, b, c } as Record<'a' | 'b' | 'c', RecordingChannel>
  const events = defineEvents({ e: { route: 'first', channels: { a: {}, b: {}, c: {} } } })
  return { deps: testDeps(channels, { events, ...rest }), channels }
}

function runDue(deps: TestDeps) {
  return createWorker({ ...deps, queue: localQueue(deps.clock) }).runDue()
}

/** Runs until no delivery is due. */
async function runToTheEnd(deps: TestDeps) {
  for (let round = 0; round < 20; round++) {
    await runDue(deps)
    deps.clock.advance(3_000)
  }
}

async function statusOf(deps: TestDeps) {
  const [dispatch] = await stored(deps)
  return dispatch && viewDispatch(dispatch, 0).status
}

describe('the first route', () => {
  it('The route first queues the first channel and holds the others', async () => {
    const { deps } = depsFor([[SENT], [SENT], [SENT]])
    const answer = await accepted(deps, BODY)
    expect(answer.status).toBe('queued')
    expect(await outcomes(deps)).toEqual(['a: queued 0', 'b: held 0', 'c: held 0'])
  })

  it('The route first skips the other channels as unneeded once the first is sent', async () => {
    const { deps, channels } = depsFor([[SENT], [SENT], [SENT]])
    await accepted(deps, BODY)
    expect(await runDue(deps)).toMatchObject({ attempted: 1, sent: 1, failed: 0 })
    expect(await outcomes(deps)).toEqual([
      'a: sent 1',
      'b: skipped fallback_unneeded 0',
      'c: skipped fallback_unneeded 0',
    ])
    expect(await statusOf(deps)).toBe('sent')
    expect([channels.b.sent, channels.c.sent]).toEqual([[], []])
  })

  it('The route first sends the next channel in the same run after a rejection', async () => {
    const { deps, channels } = depsFor([[REJECTED], [SENT], [SENT]])
    await accepted(deps, BODY)
    expect(await runDue(deps)).toMatchObject({ attempted: 2, sent: 1, failed: 1 })
    expect(await outcomes(deps)).toEqual([
      'a: failed provider_rejected 1',
      'b: sent 1',
      'c: skipped fallback_unneeded 0',
    ])
    expect(await statusOf(deps)).toBe('sent')
    expect(channels.b.sent).toHaveLength(1)
  })

  it('The route first promotes the next channel only after all attempts of the one before', async () => {
    const { deps } = depsFor([[RETRY], [SENT], [SENT]])
    await accepted(deps, BODY)
    await runDue(deps)
    expect(await outcomes(deps)).toEqual(['a: queued 1', 'b: held 0', 'c: held 0'])
    deps.clock.advance(1_200)
    await runDue(deps)
    expect(await outcomes(deps)).toEqual(['a: queued 2', 'b: held 0', 'c: held 0'])
    deps.clock.advance(2_400)
    await runDue(deps)
    expect(await outcomes(deps)).toEqual([
      'a: failed attempts_exhausted 3',
      'b: sent 1',
      'c: skipped fallback_unneeded 0',
    ])
  })

  it('A dispatch on the route first fails when every channel fails', async () => {
    const { deps } = depsFor([[REJECTED], [REJECTED], [REJECTED]])
    await accepted(deps, BODY)
    await runDue(deps)
    expect(await outcomes(deps)).toEqual([
      'a: failed provider_rejected 1',
      'b: failed provider_rejected 1',
      'c: failed provider_rejected 1',
    ])
    expect(await statusOf(deps)).toBe('failed')
  })

  it('A dispatch on the route first that expires between retries sends no fallback', async () => {
    const { deps, channels } = depsFor([[RETRY], [SENT], [SENT]], { expiresInMs: 1_500 })
    await accepted(deps, BODY)
    await runDue(deps)
    deps.clock.advance(1_500)
    expect(await runDue(deps)).toMatchObject({ attempted: 0, sent: 0, expired: 3 })
    expect(await outcomes(deps)).toEqual(['a: expired 1', 'b: expired 0', 'c: expired 0'])
    expect(await statusOf(deps)).toBe('failed')
    expect(channels.b.sent).toEqual([])
  })

  it('The route first promotes the next channel when no retry fits before the expiry', async () => {
    const { deps } = depsFor([[RETRY], [SENT], [SENT]], { expiresInMs: 500 })
    await accepted(deps, BODY)
    expect(await runDue(deps)).toMatchObject({ attempted: 2, sent: 1, failed: 1 })
    expect(await outcomes(deps)).toEqual([
      'a: failed attempts_exhausted 1',
      'b: sent 1',
      'c: skipped fallback_unneeded 0',
    ])
  })

  it('Held deliveries of the route first expire together with the queued one', async () => {
    const { deps } = depsFor([[SENT], [SENT], [SENT]], { expiresInMs: 500 })
    await accepted(deps, BODY)
    deps.clock.advance(500)
    await deps.store.claim({ leaseMs: 1, limits: { a: 1 }, busy: [] })
    expect(await outcomes(deps)).toEqual(['a: expired 0', 'b: expired 0', 'c: expired 0'])
  })

  it('The route first begins with the first sendable channel', async () => {
    const channels = {
      off: recordingChannel(),
      nowhere: recordingChannel(undefined, { address: () => undefined }),
      broken: recordingChannel(),
      a: recordingChannel([REJECTED]),
      also: recordingChannel(undefined, { address: () => undefined }),
      b: recordingChannel([SENT]),
    }
    const events = defineEvents(
      {
        e: {
          route: 'first',
          channels: {
            off: { when: () => false },
            nowhere: {},
            broken: { text: '{{ fail }}' },
            a: {},
            also: {},
            b: {},
          },
        },
      },
      { templates: braces },
    )
    const deps = testDeps(channels, { events })
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'queued' })
    const before = [
      'off: skipped condition_false 0',
      'nowhere: skipped no_address 0',
      'broken: failed template_error 0',
    ]
    const also = 'also: skipped no_address 0'
    expect(await outcomes(deps)).toEqual([...before, 'a: queued 0', also, 'b: held 0'])
    await runDue(deps)
    expect(await outcomes(deps)).toEqual([...before, 'a: failed provider_rejected 1', also, 'b: sent 1'])
    expect(await statusOf(deps)).toBe('sent')
  })

  it('A named channel on the route first has no fallback', async () => {
    const { deps, channels } = depsFor([[SENT], [REJECTED], [SENT]])
    await accepted(deps, { ...BODY, channel: 'b' })
    await runDue(deps)
    expect(await outcomes(deps)).toEqual(['b: failed provider_rejected 1'])
    expect([channels.a.sent, channels.c.sent]).toEqual([[], []])
  })

  it('The route first promotes once when a failure is settled twice', async () => {
    const { deps } = depsFor([[SENT], [SENT], [SENT]])
    await accepted(deps, BODY)
    const { deliveries } = await deps.store.claim({ leaseMs: 1_000, limits: { a: 1 }, busy: [] })
    const { deliveryId = '', fence = '' } = deliveries[0] ?? {}
    const attempt = { outcome: 'rejected', code: 'x' } as const
    const failed = { deliveryId, fence, to: 'failed', reason: 'provider_rejected', attempt } as const
    expect(await deps.store.settle(failed)).toEqual({
      live: true,
      others: [{ deliveryId: 'dlv_3', channel: 'b', status: 'queued', attempts: 0 }],
    })
    expect(await deps.store.settle(failed)).toEqual({ live: false })
    expect(await outcomes(deps)).toEqual(['a: failed provider_rejected 1', 'b: queued 0', 'c: held 0'])
  })

  it('The route first sends exactly once if any channel succeeds, for any answers', async () => {
    const answer = fc.constantFrom<SendOutcome>(SENT, REJECTED, RETRY, { outcome: 'unknown', code: 'time_out' })
    const answers = fc.array(fc.array(answer, { minLength: 1, maxLength: 4 }), { minLength: 3, maxLength: 3 })
    await fc.assert(
      fc.asyncProperty(answers, async (given) => {
        const { deps } = depsFor(given)
        await accepted(deps, BODY)
        await runToTheEnd(deps)
        const statuses = (await outcomes(deps)).map((text) => text.split(' ')[1])
        // Three attempts; the last answer repeats.
        const succeeds = given.map((list) => {
          const tries = [0, 1, 2].map((at) => (list[at] ?? list.at(-1))?.outcome)
          const end = tries.findIndex((outcome) => outcome === 'sent' || outcome === 'rejected')
          return tries[end] === 'sent'
        })
        const winner = succeeds.indexOf(true)
        expect(statuses).toEqual(
          succeeds.map((_, at) => (winner < 0 || at < winner ? 'failed' : at === winner ? 'sent' : 'skipped')),
        )
      }),
      { numRuns: runs(200) },
    )
  })
})

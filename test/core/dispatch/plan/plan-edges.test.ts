import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { viewDispatch } from '../../../../src/core/dispatch/dispatch-view.ts'
import type { Channel } from '../../../../src/ports/channel.ts'
import type { EventCatalog } from '../../../../src/ports/event-catalog.ts'
import { type TestDeps, testDeps } from '../../../support/deps.ts'
import { holes } from '../../../support/holes.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../../support/stray-rejections.ts'
import { accepted, braces, claimOne, outcomes, post, stored } from '../dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com', eventData: { n: 1 } }

function depsFor(events: EventCatalog, a: Channel = recordingChannel()): TestDeps {
  return testDeps({ a, b: recordingChannel() }, { events })
}

describe('a delivery that fails in planning', () => {
  const digest = { windowMs: 60_000 }
  const noJson = v.pipe(
    v.object({ n: v.number() }),
    v.transform(() => ({ n: 1n })),
  )

  it.each<[string, object, string, string]>([
    [
      'the unknown recipient fact of a template',
      { channels: { a: { text: '{{ recipient.x }}' } } },
      'template_error',
      'text: reads recipient.x, which has no value: pass one, or give it a default in the template',
    ],
    ['the error of a template', { channels: { a: { text: '{{ fail }}' } } }, 'template_error', 'text: failed'],
    ['data that are not JSON', { data: noJson, channels: { a: {} } }, 'template_error', 'the data is no JSON'],
    [
      'the missing key of a digest',
      { digest: { ...digest, key: () => 5 }, channels: { a: {} } },
      'template_error',
      'digest.key returned a number; return a text of at most 512 characters at once, without NUL and lone surrogates',
    ],
  ])('A delivery that fails in planning is logged with %s', async (_, event, reason, detail) => {
    const deps = depsFor(defineEvents({ e: event } as never, { templates: braces }))
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual([`a: failed ${reason} 0`])
    const fields = { dispatchId: 'dsp_1', eventType: 'e', channel: 'a', reason, detail }
    expect(deps.logger.lines).toMatchObject([
      { level: 'error', event: 'event.failed', fields: { dispatchId: 'dsp_1', eventType: 'e', channel: 'a' } },
      { level: 'warn', event: 'delivery.failed', fields },
    ])
    expect((await stored(deps))[0]?.deliveries[0]).not.toHaveProperty('detail')
  })

  it('A delivery that fails in planning is logged with the error of its channel', async () => {
    const address = () => {
      throw new Error('canary')
    }
    const deps = depsFor(defineEvents({ e: { channels: { a: {} } } }), recordingChannel([], { address }))
    await accepted(deps, BODY)
    const detail = 'the channel threw, or returned no address'
    expect(deps.logger.lines).toMatchObject([
      { event: 'channel.threw', fields: { dispatchId: 'dsp_1', channel: 'a', detail, cause: 'Error' } },
      { event: 'delivery.failed', fields: { detail } },
    ])
    expect(JSON.stringify(deps.logger.lines)).not.toContain('canary')
  })
})

describe('addresses and concurrency keys', () => {
  const events = defineEvents({ e: { channels: { a: {} } } })

  it.each<[unknown, string]>([
    [undefined, 'a: skipped no_address 0'],
    [null, 'a: skipped no_address 0'],
    ['', 'a: skipped no_address 0'],
    [5, 'a: failed channel_error 0'],
    [false, 'a: failed channel_error 0'],
    [{}, 'a: failed channel_error 0'],
  ])('An address of %j gives the delivery %s', async (address, outcome) => {
    const deps = depsFor(events, recordingChannel([], { address: () => address as string }))
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual([outcome])
  })

  it.each<[unknown, string]>([
    [undefined, 'a: queued 0'],
    ['k', 'a: queued 0'],
    ['k\0', 'a: failed channel_error 0'],
    [5, 'a: failed channel_error 0'],
  ])('A concurrency key of %j gives the delivery %s', async (key, outcome) => {
    const deps = depsFor(events, recordingChannel([], { concurrencyKey: () => key as string }))
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual([outcome])
  })

  it('An address or concurrency key that is a rejected promise leaves no unhandled rejection', () =>
    withoutStrayRejections(async () => {
      const rejecting = () => Promise.reject(new Error('canary')) as never
      for (const channel of [{ address: rejecting }, { concurrencyKey: rejecting }]) {
        const deps = depsFor(events, recordingChannel([], channel))
        await accepted(deps, BODY)
        expect(await outcomes(deps)).toEqual(['a: failed channel_error 0'])
      }
    }))
})

describe('stored dispatches', () => {
  it('A stored dispatch has the member critical only for a critical event', async () => {
    for (const critical of [true, false]) {
      const deps = depsFor(defineEvents({ e: { critical, channels: { a: {} } } }))
      await accepted(deps, BODY)
      const { dispatch } = await claimOne(deps)
      expect('critical' in dispatch).toBe(critical)
    }
  })

  it('A stored dispatch has the member priority only for an urgent event', async () => {
    for (const priority of ['urgent', 'normal', undefined] as const) {
      const deps = depsFor(defineEvents({ e: { ...(priority && { priority }), channels: { a: {} } } }))
      await accepted(deps, BODY)
      const { dispatch } = await claimOne(deps)
      expect(dispatch.priority).toBe(priority === 'urgent' ? priority : undefined)
      expect('priority' in dispatch).toBe(priority === 'urgent')
    }
  })

  it('Stored dispatches and answers have no undefined member', async () => {
    const when = () => false
    const events = defineEvents({
      e: { channels: { a: {}, b: { when } } },
      f: { route: 'first', channels: { a: {}, b: {} } },
      g: { digest: { windowMs: 1_000 }, channels: { a: {} } },
    })
    for (const eventType of ['e', 'f', 'g']) {
      for (const more of [{}, { sessionId: 's1' }, { delayMs: 1_000 }, { channel: 'a' }]) {
        const deps = depsFor(events)
        const answer = await post(deps, { ...BODY, eventType, ...more })
        if (!answer.ok) continue
        const dispatches = await stored(deps)
        const dry = await post(deps, { ...BODY, eventType, ...more }, {}, { dryRun: 'true' })
        expect(holes([answer.body, dry.body, dispatches, dispatches.map(viewDispatch)])).toEqual([])
      }
    }
  })
})

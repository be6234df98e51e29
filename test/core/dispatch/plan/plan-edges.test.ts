import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { maskAddress, viewDispatch } from '../../../../src/core/dispatch/dispatch-view.ts'
import type { Channel } from '../../../../src/ports/channel.ts'
import type { EventCatalog } from '../../../../src/ports/event-catalog.ts'
import { type TestDeps, testDeps } from '../../../support/deps.ts'
import { holes } from '../../../support/holes.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../../support/stray-rejections.ts'
import { accepted, braces, claimOne, ORDER, outcomes, post, stored } from '../dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com', eventData: { n: 1 } }

function depsFor(events: EventCatalog, a: Channel = recordingChannel()): TestDeps {
  return testDeps({ a, b: recordingChannel() }, { events })
}

describe('a delivery that fails as it is planned', () => {
  const digest = { windowMs: 60_000 }
  const noJson = v.pipe(
    v.object({ n: v.number() }),
    v.transform(() => ({ n: 1n })),
  )

  it.each<[string, object, string, string]>([
    [
      'what its template reads of a recipient',
      { channels: { a: { text: '{{ recipient.x }}' } } },
      'template_error',
      'text: reads recipient.x',
    ],
    ['what its template says', { channels: { a: { text: '{{ fail }}' } } }, 'template_error', 'text: failed'],
    ['that its data are no JSON', { data: noJson, channels: { a: {} } }, 'template_error', 'the data is no JSON'],
    [
      'that its digest has no key',
      { digest: { ...digest, key: () => 5 }, channels: { a: {} } },
      'template_error',
      'digest.key gave no key',
    ],
  ])('is logged with %s', async (_, event, reason, detail) => {
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

  it('is logged with what its channel did', async () => {
    const address = () => {
      throw new Error('canary')
    }
    const deps = depsFor(defineEvents({ e: { channels: { a: {} } } }), recordingChannel([], { address }))
    await accepted(deps, BODY)
    const detail = 'the channel threw, or gave no address'
    expect(deps.logger.lines).toMatchObject([
      { event: 'channel.threw', fields: { dispatchId: 'dsp_1', channel: 'a', detail, cause: 'Error' } },
      { event: 'delivery.failed', fields: { detail } },
    ])
    expect(JSON.stringify(deps.logger.lines)).not.toContain('canary')
  })
})

describe('where a channel reaches somebody', () => {
  const events = defineEvents({ e: { channels: { a: {} } } })

  it.each<[unknown, string]>([
    [undefined, 'a: skipped no_address 0'],
    [null, 'a: skipped no_address 0'],
    ['', 'a: skipped no_address 0'],
    [5, 'a: failed channel_error 0'],
    [false, 'a: failed channel_error 0'],
    [{}, 'a: failed channel_error 0'],
  ])('is nowhere, or broken, with %j: %s', async (address, outcome) => {
    const deps = depsFor(events, recordingChannel([], { address: () => address as string }))
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual([outcome])
  })

  it.each<[unknown, string]>([
    [undefined, 'a: queued 0'],
    ['k', 'a: queued 0'],
    ['k\0', 'a: failed channel_error 0'],
    [5, 'a: failed channel_error 0'],
  ])('has the key %j: %s', async (key, outcome) => {
    const deps = depsFor(events, recordingChannel([], { concurrencyKey: () => key as string }))
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual([outcome])
  })

  it('leaves no rejection behind when it is told by a promise', () =>
    withoutStrayRejections(async () => {
      const rejecting = () => Promise.reject(new Error('canary')) as never
      for (const channel of [{ address: rejecting }, { concurrencyKey: rejecting }]) {
        const deps = depsFor(events, recordingChannel([], channel))
        await accepted(deps, BODY)
        expect(await outcomes(deps)).toEqual(['a: failed channel_error 0'])
      }
    }))
})

describe('what is stored of a dispatch', () => {
  it('says that its event is critical, and nothing where it is not', async () => {
    for (const critical of [true, false]) {
      const deps = depsFor(defineEvents({ e: { critical, channels: { a: {} } } }))
      await accepted(deps, BODY)
      const { dispatch } = await claimOne(deps)
      expect('critical' in dispatch).toBe(critical)
    }
  })

  it('has no member without a value, nor has what is answered', async () => {
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

describe('a dry run', () => {
  it.each(['dry-run', 'dry_run', 'DRYRUN', 'dryrun'])('that is asked for as %s sends nothing', async (name) => {
    const deps = testDeps()
    expect(await post(deps, ORDER, {}, { [name]: 'true' })).toMatchObject({ status: 422 })
    expect(await stored(deps)).toEqual([])
  })

  it('is not what other parameters mean', async () => {
    for (const name of ['dry', 'run', 'hydra', 'draft']) {
      expect(await post(testDeps(), ORDER, {}, { [name]: 'true' })).toMatchObject({ status: 202 })
    }
  })

  it('shows no more of an address than who it may be', () => {
    expect(['http://h.test/secret', 'HTTPS://h.test/secret', 'xhttps://h.test/s', '', 'jane'].map(maskAddress)).toEqual(
      ['http://h.test/…', 'https://h.test/…', 'x…', '…', 'j…'],
    )
  })
})

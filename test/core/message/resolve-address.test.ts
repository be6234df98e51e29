import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { accepted, outcomes, stored } from '../dispatch/dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com', eventData: { total: 5 } }

function depsFor(events: EventCatalog, channels: Readonly<Record<string, Channel>> = {}) {
  return testDeps({ a: recordingChannel(), b: recordingChannel(), ...channels }, { events })
}

describe('an address', () => {
  it('A missing address skips only its channel', async () => {
    const events = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const deps = depsFor(events, { a: recordingChannel(undefined, { address: () => undefined }) })
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'queued' })
    expect(await outcomes(deps)).toEqual(['a: skipped no_address 0', 'b: queued 0'])
  })

  it('A channel that throws for an address fails only that channel', async () => {
    const events = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const deps = depsFor(events, { a: recordingChannel(undefined, { address: () => fail() }) })
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'partial' })
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 0', 'b: queued 0'])
  })

  it.each<[string, unknown]>([
    ['null', null],
    ['an empty string', ''],
    ['a number', 5],
    ['text with a NUL', 'a\0b'],
    ['a promise', Promise.resolve('jane@example.com')],
  ])('An address that is %s is never queued', async (_, address) => {
    const events = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const deps = depsFor(events, { a: recordingChannel(undefined, { address: () => address as string }) })
    const { deliveries } = await accepted(deps, BODY)
    expect(deliveries[0]?.status).not.toBe('queued')
    expect(deliveries[1]?.status).toBe('queued')
  })

  it('The text "unknown" is an address', async () => {
    const events = defineEvents({ e: { channels: { a: {} } } })
    const deps = depsFor(events, { a: recordingChannel(undefined, { address: () => 'unknown' }) })
    await accepted(deps, BODY)
    expect(await stored(deps)).toMatchObject([{ deliveries: [{ status: 'queued', address: 'unknown' }] }])
  })

  it('A channel that is not configured fails only that channel', async () => {
    const events = defineEvents({ e: { channels: { gone: {}, b: {} } } })
    const deps = depsFor(events)
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual(['gone: failed channel_error 0', 'b: queued 0'])
  })
})

describe('a concurrency key', () => {
  const events = defineEvents({ e: { channels: { a: {}, b: {} } } })
  const keyed = (concurrencyKey: (address: string) => unknown) =>
    depsFor(events, { a: recordingChannel(undefined, { concurrencyKey: concurrencyKey as () => string }) })

  it('The concurrency key of an address is stored if the channel has one', async () => {
    const deps = keyed((address) => `at ${address}`)
    await accepted(deps, BODY)
    const [dispatch] = await stored(deps)
    expect(dispatch?.deliveries[0]?.concurrencyKey).toBe('at jane@example.com')
    expect(dispatch?.deliveries[1]).not.toHaveProperty('concurrencyKey')
  })

  it.each<[string, () => unknown]>([
    ['throws', () => fail()],
    ['gives a number', () => 5],
    ['gives null', () => null],
    ['gives a promise', async () => 'x'],
    ['gives a promise that is rejected', async () => fail()],
  ])('A concurrency key function that %s fails only its channel', async (_, key) => {
    const deps = keyed(key)
    await withoutStrayRejections(() => accepted(deps, BODY))
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 0', 'b: queued 0'])
  })

  it('A concurrency key may be undefined or empty', async () => {
    for (const key of [undefined, '']) {
      const deps = keyed(() => key)
      await accepted(deps, BODY)
      expect((await stored(deps))[0]?.deliveries[0]?.concurrencyKey).toBe(key)
    }
  })
})

function fail(): never {
  throw new Error('no')
}

import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { retryDispatch } from '../../../src/core/dispatch/retry-dispatch.ts'
import { localQueue } from '../../../src/queues/local.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { pass, settled } from '../delivery/attempting.ts'
import { braces, gate, outcomes, post, stored } from '../dispatch/dispatching.ts'
import { ASYNC_RESULTS, type AsyncResult } from './async-results.ts'

const BODY = { eventType: 'e', recipient: 'user_1' }
const recipients = { find: async (id: string) => ({ id, email: 'jane@example.com', locale: 'de-AT' }) }
const LATE = 'the template function gave no value within 5 seconds'

type Channels = Parameters<typeof defineEvents>[0][string]['channels']

function depsFor(channels: object, rest: object = {}): TestDeps {
  const names = Object.keys(channels)
  const events = defineEvents({ e: { channels: channels as Channels, ...rest } }, { templates: braces })
  return testDeps(Object.fromEntries(names.map((name) => [name, recordingChannel()])), { events, recipients })
}

/** Posts, and lets 6 seconds pass for fields that are late. */
async function posted(deps: TestDeps, query?: { dryRun: string }): ReturnType<typeof post> {
  const answer = post(deps, BODY, {}, query)
  await settled(deps.clock)
  await pass(deps.clock, 4_999, 4_999)
  await pass(deps.clock, 2, 2)
  return answer
}

const detailOf = ({ becomes }: AsyncResult): string | undefined =>
  becomes === 'late' ? LATE : 'detail' in becomes ? becomes.detail : undefined

describe.each(ASYNC_RESULTS)('a field function that gives $name', (result) => {
  const { give, becomes } = result
  const detail = detailOf(result)

  it.each(['channel', 'locale'])('The field of a %s has the value, or fails its channel alone', async (where) => {
    const field = () => give(deps.clock)
    const own = where === 'channel' ? { text: field } : { text: 'x', locales: { de: { text: field } } }
    const deps = depsFor({ a: own, b: { text: async () => 'b' } })
    await withoutStrayRejections(() => posted(deps))
    const [dispatch] = await stored(deps)
    const [a, b] = dispatch?.deliveries ?? []
    expect(b).toMatchObject({ status: 'queued', content: { text: 'b' } })
    if (detail === undefined) expect(a).toMatchObject({ status: 'queued', content: { text: Object(becomes).value } })
    else expect(a).toMatchObject({ status: 'failed', reason: 'template_error' })
    const lines = deps.logger.lines.filter(({ event }) => event === 'event.failed')
    expect(lines.map(({ fields }) => [fields.channel, fields.field, fields.detail])).toEqual(
      detail === undefined ? [] : [['a', 'text', detail]],
    )
    expect(lines.map(({ fields }) => fields.detail).join()).not.toContain('canary')
  })

  it('A dry run shows the value or the fault', async () => {
    const deps = depsFor({ a: { text: () => give(deps.clock) } })
    const answer = await withoutStrayRejections(() => posted(deps, { dryRun: 'true' }))
    expect(answer).toMatchObject({ status: 200 })
    const shown = answer.ok && 'dryRun' in answer.body ? answer.body.deliveries[0] : undefined
    if (detail === undefined) expect(shown).toMatchObject({ content: { text: Object(becomes).value } })
    else expect(shown).toMatchObject({ reason: 'template_error', detail: `text: ${detail}` })
    expect(await stored(deps)).toEqual([])
  })
})

describe('the time of fields', () => {
  it('All fields of all channels begin before the first of them ends', async () => {
    const { promise, open } = gate<string>()
    const begun: string[] = []
    const field = (name: string) => () => {
      begun.push(name)
      return promise
    }
    const deps = depsFor({ a: { subject: field('a'), text: field('b') }, b: { text: field('c') } })
    const answer = post(deps, BODY)
    await settled(deps.clock)
    expect(begun).toEqual(['a', 'b', 'c'])
    open('x')
    await answer
    expect(await outcomes(deps)).toEqual(['a: queued 0', 'b: queued 0'])
  })

  it('Fields that each take 4 seconds take 4 seconds together', async () => {
    const slow = () => new Promise<string>((resolve) => void deps.clock.after(4_000, () => resolve('x')))
    const deps = depsFor({ a: { subject: slow, text: slow }, b: { text: slow } })
    const answer = post(deps, BODY)
    await settled(deps.clock)
    deps.clock.advance(4_000)
    expect(await answer).toMatchObject({ status: 202, body: { status: 'queued' } })
    expect(deps.clock.timers).toBe(0)
  })

  it('A field has only what its dispatch has left of 10 seconds, after functions that block', async () => {
    const blocking = () => {
      deps.clock.advance(8_000)
      return 'x'
    }
    const never = () => new Promise<string>(() => {})
    const deps = depsFor({ a: { text: blocking }, b: { text: never } })
    const { clock } = deps
    const answer = post(deps, BODY)
    await settled(clock)
    expect(clock.timers).toBe(1)
    clock.advance(1_999)
    await settled(clock)
    expect(clock.timers).toBe(1)
    clock.advance(1)
    expect(await answer).toMatchObject({ body: { status: 'partial' } })
    const detail = 'the template function gave no value within the 10 seconds of its dispatch'
    expect(deps.logger.lines[0]).toMatchObject({
      level: 'error',
      event: 'event.failed',
      fields: { channel: 'b', field: 'text', detail, cause: 'TimeoutError' },
    })
  })

  it('A dispatch with only synchronous fields sets no timer', async () => {
    const timersOf = async (channels: object): Promise<number> => {
      const deps = depsFor(channels)
      let timers = 0
      const after: typeof deps.clock.after = (...args) => {
        timers += 1
        return deps.clock.after(...args)
      }
      expect(await post({ ...deps, clock: { ...deps.clock, after } }, BODY)).toMatchObject({ status: 202 })
      return timers
    }
    expect(await timersOf({ a: { subject: 'x', text: () => 'x', list: ['x'] }, b: {} })).toBe(0)
    expect(await timersOf({ a: { subject: 'x', text: async () => 'x' }, b: { text: async () => 'x' } })).toBe(2)
  })

  it.each<[string, () => Promise<never>, string]>([
    ['rejects', () => Promise.reject(new Error('canary')), 'the template engine threw'],
    ['never answers', () => new Promise(() => {}), LATE],
  ])('An engine whose promise %s fails its channel alone', async (_, promised, detail) => {
    const templates = { compile: (source: string) => (source === 'x' ? promised : braces.compile(source, 'none')) }
    const events = defineEvents({ e: { channels: { a: { text: 'x' }, b: { text: 'y' } } } }, { templates } as never)
    const deps = testDeps({ a: recordingChannel(), b: recordingChannel() }, { events, recipients })
    await withoutStrayRejections(() => posted(deps))
    expect(await outcomes(deps)).toEqual(['a: failed template_error 0', 'b: queued 0'])
    expect(deps.logger.lines[0]).toMatchObject({
      event: 'event.failed',
      fields: { channel: 'a', field: 'text', detail },
    })
    expect(JSON.stringify(deps.logger.lines)).not.toContain('canary')
  })

  it('A channel that the policy skips has its functions not called', async () => {
    const called: string[] = []
    const deps = depsFor({ a: { text: async () => void called.push('a') }, b: { text: async () => 'x' } })
    const policy = {
      decide: ({ channel }: { channel: string }) =>
        channel === 'a' ? ({ verdict: 'skip', reason: 'opted_out' } as const) : ({ verdict: 'send' } as const),
    }
    await post({ ...deps, policy }, BODY)
    expect([called, await outcomes(deps)]).toEqual([[], ['a: skipped opted_out 0', 'b: queued 0']])
  })

  it('A channel whose field was late is planned again by a retry', async () => {
    const given = [new Promise<string>(() => {}), Promise.resolve('now')]
    const deps = depsFor({ a: { text: () => given.shift() } })
    const answer = await posted(deps)
    const dispatchId = answer.ok && 'dispatchId' in answer.body ? answer.body.dispatchId : ''
    expect(await outcomes(deps)).toEqual(['a: failed template_error 0'])
    const retried = await retryDispatch(
      'default',
      dispatchId,
      { expiresInMs: 1_000 },
      { ...deps, queue: localQueue(deps.clock) },
    )
    expect(retried).toMatchObject({ unplanned: [], changed: [{ channel: 'a', status: 'queued' }] })
    expect((await stored(deps))[0]?.deliveries[0]?.content).toEqual({ text: 'now' })
  })
})

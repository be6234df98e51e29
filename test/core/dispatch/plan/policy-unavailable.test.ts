import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryPolicy, PolicyQuestion, SendLimit, Verdict } from '../../../../src/ports/delivery-policy.ts'
import { type TestDeps, testDeps } from '../../../support/deps.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../../support/stray-rejections.ts'
import { accepted, post, refused, stored } from '../dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com' }
const SEND: Verdict = { verdict: 'send' }

const events = defineEvents({ e: { channels: { a: {}, b: {} } } })

function depsFor(policy: DeliveryPolicy): TestDeps {
  return testDeps({ a: recordingChannel(), b: recordingChannel() }, { events, policy })
}

const limit = (max: number, rest: Partial<SendLimit> = {}): SendLimit => ({
  key: 'k',
  max,
  windowMs: 3_600_000,
  ...rest,
})

describe('a policy without a valid verdict', () => {
  const CANARY = 'canary-1d0e'

  it.each<[string, string, () => never | Promise<never>]>([
    [
      'throws',
      'RangeError',
      () => {
        throw new RangeError(CANARY)
      },
    ],
    ['rejects', 'RangeError', async () => Promise.reject(new RangeError(CANARY))],
    ['rejects with a text', 'a thrown string', async () => Promise.reject(CANARY)],
  ])('A policy that %s is answered 503, and its cause is only in the log', async (_, cause, decide) => {
    const deps = depsFor({ decide })
    const answer = await post(deps, BODY)
    expect(answer).toMatchObject({
      ok: false,
      status: 503,
      headers: { 'retry-after': '1' },
      body: {
        type: 'urn:sallyport:problem:policy_unavailable',
        title: 'The delivery policy is unavailable',
        code: 'policy_unavailable',
      },
    })
    expect(deps.logger.lines).toMatchObject([
      { level: 'error', event: 'request.failed', fields: { code: 'policy_unavailable', cause } },
    ])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain(CANARY)
    expect(await stored(deps)).toEqual([])
  })

  it('A policy that fails for one channel stores nothing and does not use up the key', async () => {
    let down = true
    const decide = ({ channel }: PolicyQuestion): Verdict => (down && channel === 'b' ? fail() : SEND)
    const deps = depsFor({ decide })
    const key = { 'idempotency-key': 'k' }
    expect(await refused(deps, BODY, key)).toMatchObject({ code: 'policy_unavailable' })
    expect(await stored(deps)).toEqual([])
    down = false
    expect(await accepted(deps, BODY, key)).toMatchObject({ duplicate: false, status: 'queued' })
  })

  it('A policy that rejects for two channels leaves no unhandled rejection', async () => {
    await withoutStrayRejections(() => refused(depsFor({ decide: () => Promise.reject(new Error('down')) }), BODY))
  })

  const defer = (until: unknown, limits?: unknown) => ({
    verdict: 'defer',
    until,
    ...(limits !== undefined && { limits }),
  })
  const send = (...limits: readonly unknown[]) => ({ verdict: 'send', limits })
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['true', true],
    ['a word', 'send'],
    ['a list', ['send']],
    ['an empty object', {}],
    ['an unknown verdict', { verdict: 'allow' }],
    ['a verdict in capitals', { verdict: 'SEND' }],
    ['a verdict that is true', { verdict: true }],
    ['a promise of nothing', Promise.resolve()],
    ['a function', () => SEND],
    ['a skip without a reason', { verdict: 'skip' }],
    ['a skip for an unknown reason', { verdict: 'skip', reason: 'night' }],
    ['a skip for a reserved reason', { verdict: 'skip', reason: 'sandboxed' }],
    ['a defer without a time', { verdict: 'defer' }],
    ['a defer to NaN', defer(Number.NaN)],
    ['a defer to infinity', defer(Number.POSITIVE_INFINITY)],
    ['a defer to a text', defer('2026-11-21T09:00:00Z')],
    ['a defer to a Date', defer(new Date())],
    ['a defer to a bigint', defer(1n)],
    ['a defer to a negative time', defer(-1)],
    ['a defer past the last time', defer(Date.UTC(9999, 0) + 1)],
    ['a defer past the range of dates', defer(1e300)],
    ['limits that are null', { verdict: 'send', limits: null }],
    ['limits that are not a list', { verdict: 'send', limits: limit(1) }],
    ['a defer with limits that are not a list', defer(0, 'x')],
    ['a limit that is null', send(null)],
    ['a limit that is a text', send('k')],
    ['a limit after a good one', send(limit(1), {})],
    ['a limit without a key', send({ max: 1, windowMs: 1 })],
    ['a limit with an empty key', send(limit(1, { key: '' }))],
    ['a limit whose key has a NUL', send(limit(1, { key: 'a\0b' }))],
    ['a limit whose key has a lone surrogate', send(limit(1, { key: 'a\ud800' }))],
    ['a limit with a key of 513 characters', send(limit(1, { key: 'k'.repeat(513) }))],
    ['a limit with a number for a key', send({ ...limit(1), key: 5 })],
    ['a limit without a max', send({ key: 'k', windowMs: 1 })],
    ['a limit with a max of 0', send(limit(0))],
    ['a limit with a max of 1.5', send(limit(1.5))],
    ['a limit with a max of 1,001', send(limit(1_001))],
    ['a limit with a max that is text', send({ ...limit(1), max: '1' })],
    ['a limit without a window', send({ key: 'k', max: 1 })],
    ['a limit with a window of 0', send(limit(1, { windowMs: 0 }))],
    ['a limit with a window that is text', send({ ...limit(1), windowMs: '1000' })],
    ['a limit with a window that is true', send({ ...limit(1), windowMs: true })],
    ['a limit with an infinite window', send(limit(1, { windowMs: Number.POSITIVE_INFINITY }))],
    ['a limit with a window that is NaN', send(limit(1, { windowMs: Number.NaN }))],
    ['a defer with a limit of 0', defer(0, [limit(0)])],
  ])('A policy that returns %s is answered 503', async (_, given) => {
    for (const dryRun of ['false', 'true']) {
      const deps = depsFor({ decide: () => given as Verdict })
      expect(await post(deps, BODY, {}, { dryRun })).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        body: { code: 'policy_unavailable' },
      })
      expect(deps.logger.lines).toMatchObject([{ fields: { causeCode: 'answer_invalid' } }])
      expect(await stored(deps)).toEqual([])
    }
  })

  it.each<[string, unknown]>([
    ['undefined limits', { verdict: 'send', limits: undefined }],
    ['no limits', send()],
    ['the widest limit', send(limit(1_000, { key: 'k'.repeat(512), windowMs: 1 }))],
    ['a defer to the last time', defer(Date.UTC(9999, 0))],
    ['a verdict with an extra member', { ...SEND, because: 'why not' }],
    ['a promise of a verdict', Promise.resolve(SEND)],
  ])('A policy may return %s', async (_, given) => {
    expect(await accepted(depsFor({ decide: () => given as Verdict }), BODY)).toMatchObject({ status: 'queued' })
  })
})

function fail(): never {
  throw new Error('no')
}

import { describe, expect, it } from 'vitest'
import type { DispatchAnswer } from '../../../src/model/dispatch.ts'
import { testDeps } from '../../support/deps.ts'
import { accepted, claimOne, ORDER, post, stored } from './dispatching.ts'

const HOUR = 3_600_000
const KEY = { 'idempotency-key': 'k1' }
const OTHER = { ...ORDER, eventData: { orderId: 'A-2', total: 120 } }

describe('a repeated key', () => {
  it('A repeated key with the same body gets the first answer, marked as a duplicate', async () => {
    const deps = testDeps()
    const first = await post(deps, ORDER, KEY)
    deps.clock.advance(1_000)
    const second = await post(deps, ORDER, KEY)
    expect(first).toMatchObject({ status: 202, headers: {}, body: { duplicate: false } })
    expect(second).toEqual({
      ok: true,
      status: 202,
      headers: { 'idempotent-replayed': 'true' },
      body: { ...first.body, duplicate: true },
    })
    expect(await stored(deps)).toHaveLength(1)
  })

  it('A repeated key gets the first answer after the dispatch has changed', async () => {
    const deps = testDeps()
    const first = await accepted(deps, ORDER, KEY)
    const { deliveryId, fence } = await claimOne(deps)
    await deps.store.settle({ deliveryId, fence, to: 'sent', attempt: { outcome: 'sent' } })
    expect(await accepted(deps, ORDER, KEY)).toEqual({ ...first, duplicate: true })
  })

  it('A repeated key gets the first answer although the directory is down and the event is gone', async () => {
    const recipients = { find: async () => ({ id: 'user_42', email: 'jane@example.com' }) }
    const deps = testDeps(undefined, { recipients })
    const byId = { ...ORDER, recipient: 'user_42' }
    const first = await accepted(deps, byId, KEY)
    const down = {
      find: async () => {
        throw new Error('down')
      },
    }
    const gone = { find: () => undefined, eventTypes: [] }
    expect(await accepted({ ...deps, recipients: down, events: gone }, byId, KEY)).toEqual({
      ...first,
      duplicate: true,
    })
    expect(await post({ ...deps, recipients: down }, OTHER, KEY)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    })
  })

  it('A repeated key with another body is answered 422 and nothing is stored', async () => {
    const deps = testDeps()
    await post(deps, ORDER, KEY)
    expect(await post(deps, OTHER, KEY)).toEqual({
      ok: false,
      status: 422,
      headers: {},
      body: {
        type: 'urn:sallyport:problem:idempotency_key_reused',
        title: 'The Idempotency-Key was used with another body',
        status: 422,
        detail: 'This Idempotency-Key came with another body before. Use a new key for a new event.',
        code: 'idempotency_key_reused',
        requestId: expect.stringMatching(/^req_/),
      },
    })
    expect(await stored(deps)).toHaveLength(1)
    expect(await post(deps, ORDER, KEY)).toMatchObject({ status: 202, body: { duplicate: true } })
  })

  it.each<[string, object]>([
    ['one more field', { ...ORDER, sessionId: 's1' }],
    ['one more unknown field', { ...ORDER, extra: 1 }],
    ['a number as text', { ...ORDER, eventData: { orderId: 'A-1', total: 120, more: '1' } }],
  ])('A repeated key is refused for a body with %s', async (_, body) => {
    const deps = testDeps()
    await post(deps, ORDER, KEY)
    expect(await post(deps, body, KEY)).toMatchObject({ body: { code: 'idempotency_key_reused' } })
  })

  it('A repeated key accepts a body with its members in another order', async () => {
    const deps = testDeps()
    await post(deps, ORDER, KEY)
    const reordered = JSON.parse(
      '{"eventData":{"total":120.0,"orderId":"A-1"},"recipient":"jane@example.com","eventType":"order.shipped"}',
    )
    expect(await post(deps, reordered, KEY)).toMatchObject({ status: 202, body: { duplicate: true } })
  })

  it('The same key of another tenant is another key', async () => {
    const deps = testDeps()
    await post(deps, ORDER, KEY)
    const other = await post(deps, OTHER, { ...KEY, authorization: 'Bearer other' })
    expect(other).toMatchObject({ status: 202, body: { duplicate: false } })
    expect([(await stored(deps)).length, (await stored(deps, 'other')).length]).toEqual([1, 1])
  })

  it('An idempotency key is remembered for 24 hours to the millisecond', async () => {
    const deps = testDeps()
    const { dispatchId } = await accepted(deps, ORDER, KEY)
    deps.clock.advance(24 * HOUR - 1)
    expect(await accepted(deps, ORDER, KEY)).toMatchObject({ dispatchId, duplicate: true })
    deps.clock.advance(1)
    const again = await accepted(deps, OTHER, KEY)
    expect(again.duplicate).toBe(false)
    expect(await accepted(deps, OTHER, KEY)).toMatchObject({ dispatchId: again.dispatchId, duplicate: true })
  })

  it('An idempotency key is remembered for idempotencyTtlMs', async () => {
    const deps = testDeps(undefined, { idempotencyTtlMs: 1_000 })
    await post(deps, ORDER, KEY)
    deps.clock.advance(1_000)
    expect(await accepted(deps, ORDER, KEY)).toMatchObject({ duplicate: false })
  })

  it('A repeated key does not wake the queue again', async () => {
    const woken: number[] = []
    const queue = { wake: (delayMs: number) => void woken.push(delayMs), listen: () => () => {} }
    const deps = testDeps(undefined, { queue })
    await post(deps, ORDER, KEY)
    await post(deps, ORDER, KEY)
    expect(woken).toEqual([0])
  })

  it('Changing a returned answer does not change the stored answer', async () => {
    const deps = testDeps()
    const first = await accepted(deps, ORDER, KEY)
    const before = structuredClone(first)
    Object.assign(first.deliveries[0] ?? {}, { status: 'sent' })
    const second = await accepted(deps, ORDER, KEY)
    Object.assign(second.deliveries[0] ?? {}, { status: 'sent' })
    expect(await accepted(deps, ORDER, KEY)).toEqual({ ...before, duplicate: true })
  })
})

describe('a thousand concurrent posts', () => {
  it('A thousand concurrent posts of one key make one dispatch', async () => {
    const deps = testDeps()
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => accepted(deps, ORDER, KEY)))
    expect(new Set(answers.map(({ dispatchId }) => dispatchId)).size).toBe(1)
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
    const [dispatch, ...more] = await stored(deps)
    expect(more).toEqual([])
    expect(dispatch?.dispatchId).toBe(answers[0]?.dispatchId)
  })

  it('Concurrent posts of one key and two bodies make one dispatch and refuse the other body', async () => {
    const deps = testDeps()
    const posts = Array.from({ length: 1_000 }, (_, at) => post(deps, at % 2 ? ORDER : OTHER, KEY))
    const answers = await Promise.all(posts)
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(500)
    expect(answers.filter(({ ok, body }) => !ok && body.code === 'idempotency_key_reused')).toHaveLength(500)
    expect(await stored(deps)).toHaveLength(1)
  })

  it('Concurrent posts of a thousand keys make a thousand dispatches', async () => {
    const deps = testDeps()
    await Promise.all(Array.from({ length: 1_000 }, (_, at) => accepted(deps, ORDER, { 'idempotency-key': `k${at}` })))
    expect(await stored(deps)).toHaveLength(1_000)
  })
})

describe('a refusal', () => {
  it('A refused body does not use up its key', async () => {
    const deps = testDeps()
    expect(await post(deps, { ...ORDER, eventType: 'nothing' }, KEY)).toMatchObject({ status: 422 })
    expect(await post(deps, {}, KEY)).toMatchObject({ status: 422 })
    expect(await post(deps, ORDER, { ...KEY, authorization: 'Bearer nobody' })).toMatchObject({ status: 401 })
    expect(await accepted(deps, ORDER, KEY)).toMatchObject({ duplicate: false })
  })

  it('An error of a port does not use up the key', async () => {
    let down = true
    const recipients = {
      find: async (id: string) => {
        if (down) throw new Error('down')
        return { id, email: 'jane@example.com' }
      },
    }
    const deps = testDeps(undefined, { recipients })
    const body = { ...ORDER, recipient: 'user_42' }
    expect(await post(deps, body, KEY)).toMatchObject({ status: 503 })
    down = false
    expect(await accepted(deps, body, KEY)).toMatchObject({ duplicate: false })
  })
})

describe('no key', () => {
  it('Requests without a key are not de-duplicated', async () => {
    const deps = testDeps()
    const answers: DispatchAnswer[] = [await accepted(deps), await accepted(deps)]
    expect(answers.map(({ duplicate }) => duplicate)).toEqual([false, false])
    expect(await stored(deps)).toHaveLength(2)
  })
})

describe('the header', () => {
  it.each<[string, string | readonly string[]]>([
    ['no characters', ''],
    ['quotes alone', '""'],
    ['256 characters', 'k'.repeat(256)],
    ['256 characters in quotes', `"${'k'.repeat(256)}"`],
    ['a space', 'a b'],
    ['a space in quotes', '"a b"'],
    ['a tab', 'a\tb'],
    ['a line break', 'a\nb'],
    ['a NUL', 'a\0'],
    ['a non-ASCII character', 'schlüssel'],
    ['one quote', '"a'],
    ['a quote within quotes', '"a"b"'],
    ['two keys', ['a', 'b']],
    ['one key in a list', ['a']],
  ])('An Idempotency-Key header with %s is answered 400, and nothing is stored', async (_, header) => {
    const deps = testDeps()
    expect(await post(deps, ORDER, { 'idempotency-key': header })).toMatchObject({
      status: 400,
      body: {
        code: 'idempotency_key_invalid',
        detail: 'Send one Idempotency-Key of 1-255 visible ASCII characters, quoted or bare.',
      },
    })
    expect(await stored(deps)).toEqual([])
  })

  it.each([
    ['k1', '"k1"'],
    ['k'.repeat(255), `"${'k'.repeat(255)}"`],
    ["!#$%&'()*+,-./:;<=>?@[]^_`{|}~", `"!#$%&'()*+,-./:;<=>?@[]^_\`{|}~"`],
  ])('The key %s is the same bare and in quotes', async (bare, quoted) => {
    const deps = testDeps()
    await accepted(deps, ORDER, { 'idempotency-key': bare })
    expect(await accepted(deps, ORDER, { 'idempotency-key': quoted })).toMatchObject({ duplicate: true })
  })

  it('Idempotency keys are case-sensitive', async () => {
    const deps = testDeps()
    await accepted(deps, ORDER, { 'idempotency-key': 'key' })
    expect(await accepted(deps, ORDER, { 'idempotency-key': 'KEY' })).toMatchObject({ duplicate: false })
  })
})

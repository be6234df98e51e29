import { type ClientOptions, createClient } from 'sallyport/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { freePort } from '../support/free-port.ts'
import { ACCEPTED, startScripted, stopServers, until } from './servers.ts'

const EVENT = { eventType: 'ping', recipient: 'jane@example.com' }
const TIMEOUT_MS = 10_000

const real = globalThis.setTimeout

/** Delays of the timers that the client starts, in milliseconds. */
const started: number[] = []

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  started.length = 0
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  const start = globalThis.setTimeout
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((...call: Parameters<typeof setTimeout>) => {
    // Timers of `fetch` stay real.
    if (!new Error('for its stack').stack?.includes('/src/client/timers.ts')) return real(...call)
    started.push(call[1] ?? 0)
    return start(...call)
  }) as typeof setTimeout)
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.useRealTimers()
  await stopServers()
})

/** Waits between attempts, in milliseconds. */
const waits = (): number[] => started.filter((ms) => ms !== TIMEOUT_MS)

/** Advances the time over this many waits, each once it has begun. */
async function pass(count: number): Promise<void> {
  for (let wait = 1; wait <= count; wait++) {
    await until(() => waits().length === wait)
    await vi.advanceTimersByTimeAsync(waits().at(-1) ?? 0)
  }
}

const dispatch = (baseUrl: string, options: Partial<ClientOptions> = {}, signal?: AbortSignal) =>
  createClient({ baseUrl, token: 'app', ...options }).dispatch(EVENT, { signal })

describe('a client retries', () => {
  test.each([408, 429, 502, 503, 504])('The client retries after status %i from any server', async (status) => {
    const { url, asked } = await startScripted({ status, body: '<html>' }, ACCEPTED)
    const answer = dispatch(url)
    await pass(1)
    expect(await answer).toMatchObject({ dispatchId: 'dsp_1' })
    expect(asked).toHaveLength(2)
  })

  test('The client retries a broken connection with the same key and a new token', async () => {
    const { url, asked } = await startScripted('reset', 'reset', ACCEPTED)
    let tokens = 0
    const answer = dispatch(url, { token: () => `token-${++tokens}` })
    await pass(2)
    await answer
    const keys = asked.map(({ headers }) => headers['idempotency-key'])
    expect(keys[0]).toMatch(/^[\da-f-]{36}$/)
    expect(new Set(keys).size).toBe(1)
    expect(asked.map(({ headers }) => headers.authorization)).toEqual([1, 2, 3].map((n) => `Bearer token-${n}`))
  })

  test('The client retries twice when no server listens, and then gives up', async () => {
    const answer = dispatch(`http://127.0.0.1:${await freePort()}`).catch((error) => error)
    await pass(2)
    expect(await answer).toMatchObject({ name: 'ClientError', code: 'network', cause: expect.any(Error) })
    expect((await answer).status).toBeUndefined()
    expect(waits()).toHaveLength(2)
  })

  test('The client retries after a time-out', async () => {
    const { url, asked } = await startScripted('hang', ACCEPTED)
    const answer = dispatch(url)
    await until(() => asked.length === 1)
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
    await pass(1)
    expect(await answer).toMatchObject({ dispatchId: 'dsp_1' })
  })

  test('The client makes as many retries as set', async () => {
    const { url, asked } = await startScripted({ status: 503 })
    const answer = dispatch(url, { retries: 5 }).catch((error) => error)
    await pass(5)
    expect(await answer).toMatchObject({ code: 'bad_answer', status: 503 })
    expect(asked).toHaveLength(6)
    await expect(dispatch(url, { retries: 0 })).rejects.toMatchObject({ status: 503 })
    expect(asked).toHaveLength(7)
  })

  test('The client waits a random part of a doubling delay of at most eight seconds', async () => {
    const { url } = await startScripted({ status: 503 })
    const answer = dispatch(url, { retries: 6 }).catch((error) => error)
    await pass(6)
    await answer
    expect(waits()).toEqual([250, 500, 1000, 2000, 4000, 4000])
  })

  test.each([
    ['a number of seconds', () => '7', 7000],
    ['an HTTP date', () => new Date(Date.now() + 9000).toUTCString(), 9000],
    ['a past date', () => new Date(Date.now() - 9000).toUTCString(), 0],
    ['neither of both', () => 'soon', 0],
  ])('The client waits at least for a Retry-After that is %s', async (_, header, atLeastMs) => {
    vi.setSystemTime(1_795_000_000_000)
    const { url } = await startScripted({ status: 503, headers: { 'retry-after': header() } }, ACCEPTED)
    const answer = dispatch(url)
    await pass(1)
    await answer
    expect(waits()).toEqual([atLeastMs + 250])
  })
})

describe('a client does not retry', () => {
  test.each([400, 401, 403, 404, 409, 413, 415, 422, 500, 501])(
    'The client does not retry after status %i',
    async (status) => {
      const { url, asked } = await startScripted({ status }, ACCEPTED)
      await expect(dispatch(url)).rejects.toMatchObject({ code: 'bad_answer', status })
      expect(asked).toHaveLength(1)
    },
  )

  test('The client does not retry when it must wait for more than 30 seconds', async () => {
    const { url, asked } = await startScripted({ status: 429, headers: { 'retry-after': '31' } }, ACCEPTED)
    await expect(dispatch(url)).rejects.toMatchObject({ status: 429, retryAfterMs: 31_000 })
    expect(asked).toHaveLength(1)
  })

  test('The client rethrows the error of the token function without a call', async () => {
    const { url, asked } = await startScripted(ACCEPTED)
    const fault = new Error('no key')
    await expect(dispatch(url, { token: () => Promise.reject(fault) })).rejects.toBe(fault)
    expect(asked).toHaveLength(0)
  })

  test('The client makes no attempt for a call aborted before it began', async () => {
    const { url, asked } = await startScripted(ACCEPTED)
    await expect(dispatch(url, {}, AbortSignal.abort('enough'))).rejects.toBe('enough')
    expect(asked).toHaveLength(0)
  })

  test('The client does not retry a call that is aborted while it waits for an answer', async () => {
    const { url, asked } = await startScripted('hang', ACCEPTED)
    const abort = new AbortController()
    const answer = dispatch(url, {}, abort.signal).catch((error) => error)
    await until(() => asked.length === 1)
    abort.abort('enough')
    expect(await answer).toBe('enough')
    expect(waits()).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('The client does not retry a call that is aborted between two attempts', async () => {
    const { url, asked } = await startScripted({ status: 503 }, ACCEPTED)
    const abort = new AbortController()
    const answer = dispatch(url, {}, abort.signal).catch((error) => error)
    await until(() => waits().length === 1)
    abort.abort()
    expect(await answer).toBe(abort.signal.reason)
    expect(asked).toHaveLength(1)
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('The time-out also covers a pending token and a fetch that does not stop', async () => {
  for (const options of [
    { token: () => new Promise<string>(() => {}) },
    { fetch: () => new Promise<Response>(() => {}) },
  ]) {
    const answer = dispatch('http://127.0.0.1', { ...options, retries: 0 }).catch((error) => error)
    await vi.advanceTimersByTimeAsync(TIMEOUT_MS)
    expect(await answer).toMatchObject({ code: 'timeout' })
  }
})

test('A time-out may be as long as the longest timer', async () => {
  const { url } = await startScripted(ACCEPTED)
  await dispatch(url, { timeoutMs: 2 ** 31 - 1, retries: 0 })
  expect(started).toEqual([2 ** 31 - 1])
})

import { describe, expect, it } from 'vitest'
import { groupCommit } from '../../../src/storage/engine/group-commit.ts'
import { fakeClock } from '../../support/fake-clock.ts'

interface TestAppOptions {
  /** Items name no keys, but what they do once. */
  readonly isOnce?: boolean
  readonly fault?: (items: readonly string[]) => unknown
  readonly timeoutMs?: number
  readonly sizeOf?: (item: string) => number
}

/** A group commit whose batches end one by one. */
function app(options: TestAppOptions = {}) {
  const clock = fakeClock()
  const ran: (readonly string[])[] = []
  const gates: (() => void)[] = []
  const call = groupCommit<string, string>({
    async run(items) {
      ran.push(items)
      await new Promise<void>((resolve) => void gates.push(resolve))
      const fault = options.fault?.(items)
      if (fault) throw fault
      return items.map((item) => `${item}!`)
    },
    keysOf: (item) => (options.isOnce ? [] : item.split(':').slice(0, -1)),
    onceOf: (item) => (options.isOnce && item.includes(':') ? item.split(':')[0] : undefined),
    isOnesFault: (cause) => cause === ONES,
    ...(options.timeoutMs !== undefined && { timeoutMs: options.timeoutMs }),
    ...(options.sizeOf && { sizeOf: options.sizeOf }),
    after: clock.after,
  })
  const turn = (): Promise<void> => new Promise(setImmediate)
  async function letThrough(): Promise<void> {
    while (gates.length > 0) {
      gates.shift()?.()
      await turn()
    }
  }
  return { clock, ran, call, turn, letThrough }
}

const ONES = new Error('one of them')
const ALL = new Error('the database')

describe('group commit', () => {
  it('A single call runs at once, and calls of one turn run together', async () => {
    const { ran, call, turn, letThrough } = app()
    const first = call('a')
    await turn()
    expect(ran).toEqual([['a']])
    const others = [call('b'), call('c')]
    await turn()
    expect(ran).toEqual([['a'], ['b', 'c']])
    const later = [call('d'), call('e'), call('f')]
    await turn()
    expect(ran).toHaveLength(2)
    await letThrough()
    expect(ran).toEqual([['a'], ['b', 'c'], ['d', 'e', 'f']])
    expect(await Promise.all([first, ...others, ...later])).toEqual(['a!', 'b!', 'c!', 'd!', 'e!', 'f!'])
  })

  it('Calls that do the same run one after the other, and do not delay other calls', async () => {
    const { ran, call, turn, letThrough } = app({ isOnce: true })
    const all = [call('k:1'), call('k:2'), call('l:1'), call('x')]
    await turn()
    expect(ran).toEqual([['k:1', 'l:1', 'x']])
    await letThrough()
    expect(ran).toEqual([['k:1', 'l:1', 'x'], ['k:2']])
    expect(await Promise.all(all)).toEqual(['k:1!', 'k:2!', 'l:1!', 'x!'])
  })

  it('A call with several keys is not overtaken by later calls with one of them', async () => {
    const { ran, call, turn, letThrough } = app()
    const all = [call('k:1')]
    await turn()
    all.push(call('k:l:2'), call('l:3'))
    await turn()
    expect(ran).toEqual([['k:1']])
    await letThrough()
    expect(ran).toEqual([['k:1'], ['k:l:2', 'l:3']])
    expect(await Promise.all(all)).toEqual(['k:1!', 'k:l:2!', 'l:3!'])
  })

  it('Calls of one key are in one batch, in their order', async () => {
    const { ran, call, turn, letThrough } = app()
    const all = [call('k:1'), call('k:2')]
    await turn()
    const late = call('k:3')
    await turn()
    expect(ran).toEqual([['k:1', 'k:2']])
    await letThrough()
    expect(ran).toEqual([['k:1', 'k:2'], ['k:3']])
    await Promise.all([...all, late])
  })

  it('After an error that one call may have caused, each call is retried alone with its own outcome', async () => {
    const { call, turn, letThrough } = app({ fault: (items) => (items.includes('bad') ? ONES : undefined) })
    const all = Promise.allSettled([call('a'), call('bad'), call('b')])
    await turn()
    await letThrough()
    expect(await all).toMatchObject([{ value: 'a!' }, { reason: ONES }, { value: 'b!' }])
  })

  it('After an error that no call caused, all calls fail and none is retried', async () => {
    const { ran, call, turn, letThrough } = app({ fault: () => ALL })
    const all = Promise.allSettled([call('a'), call('b')])
    await turn()
    await letThrough()
    expect(await all).toMatchObject([{ reason: ALL }, { reason: ALL }])
    expect(ran).toHaveLength(1)
  })

  it('A batch has at most a hundred calls', async () => {
    const { ran, call, turn, letThrough } = app()
    const all = Promise.all(Array.from({ length: 250 }, (_, at) => call(`${at}`)))
    await turn()
    await letThrough()
    expect((await all)[249]).toBe('249!')
    expect(ran.map(({ length }) => length)).toEqual([100, 100, 50])
  })

  it('A batch has a maximum of bytes, except for a single larger call, and later calls do not overtake', async () => {
    const { ran, call, turn, letThrough } = app({ sizeOf: (item) => Number(item) * 250_000 })
    const all = Promise.all(['3', '1', '2', '9', '1', '1'].map(call))
    await turn()
    await letThrough()
    expect(await all).toHaveLength(6)
    expect(ran).toEqual([['3', '1'], ['2'], ['9'], ['1', '1']])
  })

  it('A call that waits too long rejects, and never runs', async () => {
    const { clock, ran, call, turn, letThrough } = app({ isOnce: true, timeoutMs: 900 })
    const first = Promise.allSettled([call('k:1'), call('k:2')])
    await turn()
    const [begun, waiting] = [call('x'), call('k:3')].map(outcomeOf)
    await turn()
    clock.advance(899)
    expect(await Promise.race([waiting, turn().then(() => 'open')])).toBe('open')
    clock.advance(1)
    expect(await waiting).toMatchObject({ code: 'database_timeout', message: expect.stringContaining('nothing was') })
    await letThrough()
    expect(ran).toEqual([['k:1'], ['x']])
    expect(await begun).toBe('x!')
    expect(await first).toMatchObject([{ value: 'k:1!' }, { reason: { code: 'database_timeout' } }])
  })

  it('A call that takes too long rejects, and still blocks its keys until it ends', async () => {
    const { clock, ran, call, turn, letThrough } = app({ timeoutMs: 900 })
    const slow = outcomeOf(call('k:1'))
    await turn()
    clock.advance(1_799)
    expect(await Promise.race([slow, turn().then(() => 'open')])).toBe('open')
    clock.advance(1)
    expect(await slow).toMatchObject({ code: 'database_timeout', message: expect.stringContaining('may be done') })
    const next = call('k:2')
    await turn()
    expect(ran).toEqual([['k:1']])
    await letThrough()
    expect(await next).toBe('k:2!')
  })

  it('Calls of one turn have one timer, which lasts until all of them have ended', async () => {
    const { clock, call, turn, letThrough } = app({ isOnce: true, timeoutMs: 900 })
    const all = Promise.allSettled([call('k:1'), call('k:2'), call('x')])
    await turn()
    expect(clock.timers).toBe(1)
    clock.advance(900)
    expect(clock.timers).toBe(1)
    await letThrough()
    expect(await all).toMatchObject([{ value: 'k:1!' }, { reason: { code: 'database_timeout' } }, { value: 'x!' }])
    expect(clock.timers).toBe(0)
  })

  it('An ended call leaves no timer behind', async () => {
    const { clock, call, turn, letThrough } = app({ timeoutMs: 900, fault: () => ALL })
    const all = Promise.allSettled([call('a'), call('b')])
    await turn()
    await letThrough()
    await all
    expect(clock.timers).toBe(0)
  })
})

/** The outcome or the error of a call. */
function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  return call.catch((cause: unknown) => cause)
}

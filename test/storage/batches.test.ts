import { describe, expect, it } from 'vitest'
import { inBatches } from '../../src/storage/sql/batches.ts'

/** Batches that are let through one by one. */
function house(options: { readonly share?: boolean; readonly fault?: (items: readonly string[]) => unknown } = {}) {
  const ran: (readonly string[])[] = []
  const gates: (() => void)[] = []
  const call = inBatches<string, string>({
    async run(items) {
      ran.push(items)
      await new Promise<void>((resolve) => void gates.push(resolve))
      const fault = options.fault?.(items)
      if (fault) throw fault
      return items.map((item) => `${item}!`)
    },
    keysOf: (item) => (item.includes(':') ? [item.split(':')[0] ?? ''] : []),
    share: options.share ?? false,
    isOnesFault: (cause) => cause === ONES,
  })
  const turn = (): Promise<void> => new Promise(setImmediate)
  async function letThrough(): Promise<void> {
    while (gates.length > 0) {
      gates.shift()?.()
      await turn()
    }
  }
  return { ran, call, turn, letThrough }
}

const ONES = new Error('one of them')
const ALL = new Error('the database')

describe('calls in batches', () => {
  it('run at once when they come alone, and together when they come in one turn', async () => {
    const { ran, call, turn, letThrough } = house()
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

  it('that have a key in common follow one another, and hold up no others', async () => {
    const { ran, call, turn, letThrough } = house()
    const all = [call('k:1'), call('k:2'), call('l:1'), call('x')]
    await turn()
    expect(ran).toEqual([['k:1', 'l:1', 'x']])
    await letThrough()
    expect(ran).toEqual([['k:1', 'l:1', 'x'], ['k:2']])
    expect(await Promise.all(all)).toEqual(['k:1!', 'k:2!', 'l:1!', 'x!'])
  })

  it('share a batch with those of their key, in their order, where they may', async () => {
    const { ran, call, turn, letThrough } = house({ share: true })
    const all = [call('k:1'), call('k:2')]
    await turn()
    const late = call('k:3')
    await turn()
    expect(ran).toEqual([['k:1', 'k:2']])
    await letThrough()
    expect(ran).toEqual([['k:1', 'k:2'], ['k:3']])
    await Promise.all([...all, late])
  })

  it('are tried alone when one of them is to blame, and each has an outcome of its own', async () => {
    const { call, turn, letThrough } = house({ fault: (items) => (items.includes('bad') ? ONES : undefined) })
    const all = Promise.allSettled([call('a'), call('bad'), call('b')])
    await turn()
    await letThrough()
    expect(await all).toMatchObject([{ value: 'a!' }, { reason: ONES }, { value: 'b!' }])
  })

  it('fail together, and are not tried again, when nobody is to blame', async () => {
    const { ran, call, turn, letThrough } = house({ fault: () => ALL })
    const all = Promise.allSettled([call('a'), call('b')])
    await turn()
    await letThrough()
    expect(await all).toMatchObject([{ reason: ALL }, { reason: ALL }])
    expect(ran).toHaveLength(1)
  })

  it('are at most a hundred at once', async () => {
    const { ran, call, turn, letThrough } = house()
    const all = Promise.all(Array.from({ length: 250 }, (_, at) => call(`${at}`)))
    await turn()
    await letThrough()
    expect((await all)[249]).toBe('249!')
    expect(ran.map(({ length }) => length)).toEqual([100, 100, 50])
  })
})

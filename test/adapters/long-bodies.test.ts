import { expect, test } from 'vitest'
import { type Json, jsonOf } from '../../src/http/json-body.ts'

/** Reads a body of `length` bytes. `turns` holds the callbacks for the next turn of the event loop. */
function reading(length: number): { readonly turns: readonly (() => void)[]; read(): Promise<unknown> } {
  const turns: (() => void)[] = []
  const bytes = new TextEncoder().encode(`"${'x'.repeat(length - 2)}"`)
  const clock = {
    now: () => 0,
    after(ms: number, run: () => void) {
      if (ms === 0) turns.push(run)
      return () => {}
    },
  }
  const body = { kind: 'whole', bytes: async () => bytes.buffer, isTaken: () => false } as const
  const begin = () => ({ hold() {}, release() {} })
  return { turns, read: async () => jsonOf(body, {}, { maxBytes: 1_000_000, clock, begin }) }
}

test('A body of 64 KiB is handled in the turn that parsed it', async () => {
  const { turns, read } = reading(65_536)
  expect((await read()) as Json).toEqual({ json: 'x'.repeat(65_534) })
  expect(turns).toEqual([])
})

test('A longer body is handled in a later turn than its parsing', async () => {
  const { turns, read } = reading(65_537)
  let handled: unknown
  const done = read().then((json) => {
    handled = json
  })
  await new Promise(setImmediate)
  expect([turns.length, handled]).toEqual([1, undefined])
  turns[0]?.()
  await done
  expect(handled).toEqual({ json: 'x'.repeat(65_535) })
})

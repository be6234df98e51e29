import { expect, test } from 'vitest'
import { unfinishedBodies } from '../../src/core/load/unfinished-bodies.ts'
import { readStream, readWhole } from '../../src/http/body-reader.ts'
import { jsonOf } from '../../src/http/json-body.ts'
import { fakeClock } from '../support/fake-clock.ts'

const CALLER = { id: 'app', tenant: 'default' }

function reading(max: { readonly count: number; readonly bytes: number }) {
  const clock = fakeClock()
  const bodies = unfinishedBodies(max, () => {})
  return { clock, options: { maxBytes: 1_000, clock, begin: (refuse: () => void) => bodies.begin(CALLER, refuse) } }
}

test('A body that throws on reading is refused at once and releases its share of the budget', async () => {
  const { clock, options } = reading({ count: 1, bytes: 1_000 })
  const broken = (): never => {
    throw new TypeError('no stream')
  }
  for (const _ of [1, 2, 3])
    expect(await readStream(broken, undefined, options)).toMatchObject({ refused: 'invalid_json' })
  clock.advance(20_000)
})

test.each(['abc', '-5', '', '0x10', '1e3', '1.5', ' 7', '9'.repeat(40)])(
  'A Content-Length of %j is refused and takes no share of the budget',
  (length) => {
    const { options } = reading({ count: 1, bytes: 1_000 })
    const body = { kind: 'stream', pump: () => () => {} } as const
    expect(jsonOf(body, { 'content-length': length }, options)).toMatchObject({ refused: 'invalid_json' })
  },
)

test('With a Transfer-Encoding, the declared length is ignored', () => {
  const { options } = reading({ count: 1, bytes: 1_000 })
  const headers = { 'content-length': '9999', 'transfer-encoding': 'chunked' }
  expect(jsonOf({ kind: 'left', value: '{"a":1}' }, headers, options)).toEqual({ json: { a: 1 } })
})

test('A text that the parser of a host left may begin with a byte order mark', () => {
  const { options } = reading({ count: 1, bytes: 1_000 })
  expect(jsonOf({ kind: 'left', value: '\uFEFF{"a":1}' }, {}, options)).toEqual({ json: { a: 1 } })
})

test('A short body that exceeds the budget is refused unread', async () => {
  const { options } = reading({ count: 1, bytes: 10 })
  let isRead = false
  const bytes = async (): Promise<ArrayBuffer> => {
    isRead = true
    return new ArrayBuffer(100)
  }
  const read = await readWhole({ bytes, isTaken: () => false }, 100, options)
  expect([read, isRead]).toMatchObject([{ refused: 'overloaded' }, false])
})

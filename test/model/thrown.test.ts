import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { describeThrown, detailsOf } from '../../src/model/thrown.ts'
import { THROWN } from '../hostile/leaks/thrown.ts'

const SECRET = 'canary-7f3a'

/** An error with a given stack. */
function made(message: string, stack: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { stack })
}

const FRAMES = `    at order (file:///app/shop.js:10:5)\n    at async Shop.run [as go] (/app/my shop/run.ts:1:1)`
const TRIMMED = FRAMES.replaceAll('    at', 'at')

describe('describeThrown', () => {
  it.each<[string, unknown, object]>([
    ['an error without a name', Object.assign(new Error('x'), { name: undefined }), { cause: 'Error' }],
    ['an error whose name is no name', Object.assign(new Error('x'), { name: 'jane doe' }), { cause: 'Error' }],
    ['an error with a code', Object.assign(new TypeError('x'), { code: 7 }), { cause: 'TypeError', causeCode: '7' }],
    ['an error whose code is no text', Object.assign(new Error('x'), { code: true }), { cause: 'Error' }],
    ['an object with a name', { name: 'TypeError', code: 'E' }, { cause: 'a thrown object' }],
    ['a text', 'jane', { cause: 'a thrown string' }],
  ])('describeThrown describes %s', (_, thrown, described) => {
    expect(describeThrown(thrown)).toStrictEqual(described)
  })

  it('describeThrown describes an error whose members throw, and an object whose prototype throws', () => {
    const fail = (): never => {
      throw new Error(SECRET)
    }
    const unreadable = Object.defineProperty(new Error('x'), 'name', { get: fail })
    expect(describeThrown(unreadable)).toEqual({ cause: 'a thrown object' })
    expect(describeThrown(new Proxy({}, { getPrototypeOf: fail }))).toEqual({ cause: 'a thrown object' })
  })
})

describe('detailsOf', () => {
  it('detailsOf leaves out lines between the frames that are none', () => {
    expect(detailsOf(made('x', `Error: x\n    ... 3 ${SECRET}\n${FRAMES}\n${SECRET}`), 'none')).toEqual({
      stack: TRIMMED,
    })
  })

  it.each<[string, string, string]>([
    ['an empty message', '', `Error\n    at f (/${SECRET}.js:1:1)\nmore\n${FRAMES}`],
    ['a message that was changed later', 'changed', `Error: x\n    at f (/${SECRET}.js:1:1)\nmore\n${FRAMES}`],
    ['a message at the begin of the stack', `    at f (/${SECRET}.js:1:1)`, `    at f (/${SECRET}.js:1:1)\n${FRAMES}`],
  ])('detailsOf gives only the last frames beside %s', (_, message, stack) => {
    expect(detailsOf(made(message, stack), 'none')).toEqual({ stack: TRIMMED })
  })

  it('detailsOf keeps a frame of 400 characters, and no longer one', () => {
    const frame = (length: number): string => `    at f (/${'a'.repeat(length - 19)}.js:1:1)`
    expect(frame(400)).toHaveLength(400)
    expect(detailsOf(made('x', `Error: x\n${frame(400)}\n${frame(401)}`), 'none')).toEqual({ stack: frame(400).trim() })
  })

  it('detailsOf reads the last 20,000 characters of a stack whose message is unknown', () => {
    const frames = Array.from({ length: 2_000 }, (_, at) => `    at f (/a.js:1:${at + 1})`).join('\n')
    const { stack } = detailsOf(made('changed', `Error: x\n${frames}`), 'none')
    const first = frames.slice(-20_000).split('\n')[1]
    expect(stack?.split('\n')[0]).toBe(first?.trim())
  })

  it('detailsOf gives the message, the stack frames and the frames of causes', () => {
    const cause = Object.assign(made('inner', `TypeError: inner\n    at pg (node:net:5:6)`), { code: '23505' })
    expect(detailsOf(made('outer', `Error: outer\n${FRAMES}`, cause), 'own')).toEqual({
      message: 'outer',
      stack: `${TRIMMED}\nCaused by Error 23505\nat pg (node:net:5:6)`,
    })
    expect(detailsOf(made('outer', `Error: outer\n${FRAMES}`, cause), 'all').stack).toContain(
      'Caused by Error 23505: inner\n',
    )
    expect(detailsOf(made('outer', `Error: outer\n${FRAMES}`, cause), 'none')).toEqual({
      stack: `${TRIMMED}\nCaused by Error 23505\nat pg (node:net:5:6)`,
    })
  })

  it('detailsOf gives the frames of a real error', () => {
    const { message, stack } = detailsOf(new RangeError('the total is -1'), 'own')
    expect(message).toBe('the total is -1')
    expect(stack).toMatch(/^at .*thrown\.test\.ts:\d+:\d+/)
    expect(stack).not.toContain('total')
  })

  it.each<[string, string, string]>([
    ['of one line', SECRET, `Error: ${SECRET}\n${FRAMES}`],
    ['of several lines', `a\n${SECRET}\n`, `Error: a\n${SECRET}\n\n${FRAMES}`],
    ['that looks like frames', `x\n    at ${SECRET} (/a.js:1:1)`, `Error: x\n    at ${SECRET} (/a.js:1:1)\n${FRAMES}`],
    ['behind a code', SECRET, `TypeError [ERR_X]: ${SECRET}\n${FRAMES}`],
    ['that was changed later', 'wrapped', `Error: before ${SECRET}\n  more ${SECRET}\n${FRAMES}`],
    [
      'that was changed later and looks like frames in part',
      'wrapped',
      `Error: x\n    at ${SECRET} (/a.js:1:1)\n${SECRET}\n${FRAMES}`,
    ],
    ['behind the name of a file', SECRET, `/app/${SECRET}.js:1\n^\n\nSyntaxError: ${SECRET}\n${FRAMES}`],
  ])('detailsOf keeps a message %s out of the frames', (_, message, stack) => {
    expect(detailsOf(made(message, stack), 'none')).toEqual({ stack: TRIMMED })
    expect(detailsOf(new Error('outer', { cause: made(message, stack) }), 'own').stack).not.toContain(SECRET)
  })

  it.each([
    `at ${SECRET}`,
    `at ${SECRET}:1:1`,
    `at f (${SECRET}:1:1)`,
    `at f (data:text/javascript,${SECRET}:1:1)`,
    `at f@${SECRET} (/a.js:1:1)`,
    `at eval (eval at f (/${SECRET}), <anonymous>:1:1)`,
  ])('detailsOf drops a line that is no frame: %s', (line) => {
    expect(detailsOf(made('', `Error\n    ${line}`), 'none')).toEqual({})
  })

  it('detailsOf keeps the frames of built-in code', () => {
    const lines = ['at Array.map (<anonymous>)', 'at async Promise.all (index 0)', 'at new Foo (C:\\app\\a.js:1:2)']
    const more = ['at node:internal/timers:5:1', 'at async file:///a.mjs:1:1', 'at worker.js:3:4', 'at native']
    const stack = [...lines, ...more].map((line) => `    ${line}`).join('\n')
    expect(detailsOf(made('no', `Error: no\n${stack}`), 'none').stack?.split('\n')).toEqual([...lines, ...more])
  })

  it('detailsOf bounds the message, the stack and the causes', () => {
    const frame = `    at f (/${'a'.repeat(100)}.js:1:1)\n`
    const long = 'm'.repeat(200_000)
    const error = made(long, `Error: ${long}\n${frame.repeat(10_000)}`)
    const { message, stack } = detailsOf(error, 'all')
    expect([message?.length, stack?.length]).toEqual([1_000, 4_000])
    const circle: { cause?: unknown } = new Error('round')
    circle.cause = circle
    // A short stack: five of them fit in the limit for any path of the project.
    Object.assign(circle, { stack: 'Error: round\n    at f (/a.ts:1:1)' })
    expect(detailsOf(circle, 'all').stack?.match(/Caused by/g)).toHaveLength(5)
  })

  it('detailsOf cuts a message at 1,000 and a stack at 4,000 characters, between characters', () => {
    const ship = '\u{1f6a2}'
    const cutTo = (message: string) => detailsOf(made(message, ''), 'own').message
    expect(cutTo('m'.repeat(1_000))).toBe('m'.repeat(1_000))
    expect(cutTo(`${'m'.repeat(1_000)}n`)).toBe('m'.repeat(1_000))
    expect(cutTo(`${'m'.repeat(998)}${ship}n`)).toBe(`${'m'.repeat(998)}${ship}`)
    expect(cutTo(`${'m'.repeat(999)}${ship}n`)).toBe(`${'m'.repeat(999)}\ufffd`)
    const frame = `at ${'f'.repeat(93)} (/a.js:1:1)`
    const stackOf = (letters: number) => {
      const cause = made(`${'c'.repeat(letters)}${ship}`, '')
      return detailsOf(made('no', `Error: no\n${`    ${frame}\n`.repeat(35)}`, cause), 'all').stack ?? ''
    }
    const head = `${`${frame}\n`.repeat(35)}Caused by Error: `
    const room = 4_000 - head.length
    expect(room).toBeGreaterThan(0)
    expect(stackOf(room - 2)).toBe(`${head}${'c'.repeat(room - 2)}${ship}`)
    expect(stackOf(room - 1)).toBe(`${head}${'c'.repeat(room - 1)}\ufffd`)
    expect(stackOf(room)).toBe(`${head}${'c'.repeat(room)}`)
  })

  it('detailsOf separates the frames from a long message of several lines', () => {
    const long = `${SECRET} (/a.js:1:1)\n`.repeat(2_000)
    const error = made(long, `Error: ${long}\n${FRAMES}`)
    expect(detailsOf(error, 'none')).toEqual({ stack: TRIMMED })
    expect(detailsOf(error, 'own')).toEqual({ message: long.slice(0, 1_000), stack: TRIMMED })
    const changed = Object.assign(error, { message: 'changed' })
    expect(detailsOf(changed, 'own')).toEqual({ message: 'changed', stack: TRIMMED })
  })

  it.each(Object.entries(THROWN))('detailsOf reads %s without throwing and without messages of ports', (_, thrown) => {
    expect(inspect(detailsOf(thrown(SECRET), 'none'))).not.toContain(SECRET)
    for (const messages of ['own', 'all'] as const) expect(() => detailsOf(thrown(SECRET), messages)).not.toThrow()
  })

  it('detailsOf gives a thrown text as the message', () => {
    expect(detailsOf('no such order', 'own')).toEqual({ message: 'no such order' })
    expect(detailsOf('no such order', 'none')).toEqual({})
    expect(detailsOf(undefined, 'all')).toEqual({})
  })
})

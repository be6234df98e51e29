import { Console } from 'node:console'
import { Writable } from 'node:stream'
import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import type { GivenLogger } from '../../src/ports/logger.ts'
import { postgresQueue } from '../../src/queues/postgres.ts'
import { toLogger } from '../../src/runtime/to-logger.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'

/** Lines of JSON that a logger writes. */
function sink() {
  const lines: Record<string, unknown>[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      for (const line of String(chunk).trim().split('\n')) lines.push(JSON.parse(line))
      done()
    },
  })
  return { lines, stream }
}

function logAll(given: GivenLogger): void {
  const logger = toLogger(given)
  for (const level of ['info', 'warn', 'error'] as const) logger.log(level, 'load.shed', { inFlight: 5 })
}

describe("the host's logger", () => {
  it('pino gets the fields and the event as its message, at each level', () => {
    const { lines, stream } = sink()
    logAll(pino({ base: { service: 'shop' } }, stream))
    const line = { service: 'shop', inFlight: 5, msg: 'load.shed', time: expect.any(Number) }
    expect(lines).toEqual([30, 40, 50].map((level) => ({ level, ...line })))
  })

  it('A Sallyport with pino logs by it, also by a child of it', async () => {
    const { lines, stream } = sink()
    const logger = pino({}, stream).child({ part: 'outbound' })
    const sallyport = createSallyport({ auth: testAuth, store: memoryStore(), logger })
    sallyport.endpoints.refuse({ refused: 'invalid_token', detail: '', reason: 'expired' })
    expect(lines).toMatchObject([{ level: 40, part: 'outbound', msg: 'auth.refused', reason: 'expired' }])
  })

  it('A console gets JSON lines of all levels, and its log is not called with a level', () => {
    const { lines, stream } = sink()
    logAll(new Console(stream))
    expect(lines).toEqual(
      ['info', 'warn', 'error'].map((level) => ({ time: expect.any(String), level, event: 'load.shed', inFlight: 5 })),
    )
    expect(Object.prototype.toString.call(globalThis.console)).toBe('[object console]')
  })

  it('An object with log is called by it, also if it has methods of levels', () => {
    const fail = (): never => {
      throw new Error('called')
    }
    const logger = { ...recordingLogger(), info: fail, warn: fail, error: fail }
    logAll(logger)
    expect(logger.lines).toHaveLength(3)
  })

  it('An object whose log is no function is called by its levels', () => {
    const calls: unknown[] = []
    const call = (...given: unknown[]) => void calls.push(given)
    logAll({ log: undefined, info: call, warn: call, error: call } as GivenLogger)
    expect(calls).toEqual(Array(3).fill([{ inFlight: 5 }, 'load.shed']))
  })

  it.each([
    [{}, 'has no info, warn, error; pass a pino logger'],
    [{ info() {} }, 'has no warn, error; pass a pino logger'],
    ['x', 'is a string; pass a pino logger'],
  ])('The refusal of the logger %j says which methods it lacks', (logger, sentence) => {
    const given = { auth: testAuth, store: memoryStore(), logger: logger as never }
    expect(() => createSallyport(given)).toThrowError(sentence)
  })

  it.each([[{}], [{ info() {}, warn() {} }], ['x'], [null], [() => pino()]])(
    'Any other logger is refused with what to pass: %j',
    (logger) => {
      const detail = 'a pino logger, console, or an object with log(level, event, fields)'
      const given = { logger: logger as never }
      expect(() => createSallyport({ auth: testAuth, store: memoryStore(), ...given })).toThrowError(detail)
      expect(() => postgresQueue({ client: () => ({}) as never, ...given })).toThrowError(detail)
    },
  )
})

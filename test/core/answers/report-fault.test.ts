import { describe, expect, it } from 'vitest'
import {
  type ErrorDetails,
  type ErrorHooks,
  type ErrorOperation,
  reportFault,
} from '../../../src/core/answers/report-fault.ts'
import { SallyportError } from '../../../src/errors.ts'
import { recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'

const SECRET = 'jane@example.com is not unique'
const clock = fakeClock()
const LINE = { level: 'error', event: 'x.threw' } as const

/** The logged fields of an error. */
function logged(error: unknown, operation: ErrorOperation, errorDetails?: ErrorDetails): object | undefined {
  const logger = recordingLogger()
  reportFault(error, { operation }, LINE, { clock, logger, errorDetails })
  return logger.lines[0]?.fields
}

// biome-ignore lint/suspicious/noThenProperty: query builders are thenables
const QUERY = { then: (_: unknown, reject: (why: Error) => void) => reject(new Error('tracker')) }

const settled = (): Promise<void> => new Promise(setImmediate)

describe('a reported error', () => {
  it.each<[string, unknown, object]>([
    ['nothing', undefined, { cause: 'a thrown undefined' }],
    ['a string', SECRET, { cause: 'a thrown string' }],
    ['null', null, { cause: 'a thrown object' }],
    ['an error', new TypeError(SECRET), { cause: 'TypeError', stack: expect.any(String) }],
    [
      'an error with a number for its code',
      Object.assign(new Error(SECRET), { code: 5 }),
      { cause: 'Error', causeCode: '5', stack: expect.any(String) },
    ],
    [
      'an error with an object for its code',
      Object.assign(new Error(SECRET), { code: { SECRET } }),
      { cause: 'Error', stack: expect.any(String) },
    ],
    [
      'an error with a long code',
      Object.assign(new Error(SECRET), { code: 'c'.repeat(100) }),
      { cause: 'Error', causeCode: 'c'.repeat(64), stack: expect.any(String) },
    ],
    [
      'our own error',
      new SallyportError('option_invalid', 'The body was read.'),
      { cause: 'The body was read.', causeCode: 'option_invalid', stack: expect.any(String) },
    ],
  ])('An error of a port is logged without its message: %s', (_, cause, reported) => {
    const fields = logged(cause, 'store')
    expect(fields).toEqual(reported)
    expect(JSON.stringify(fields)).not.toContain('jane')
  })

  it.each<ErrorOperation>(['template', 'condition', 'digest_key', 'run_event', 'hook'])(
    'An error of a host function is logged with its message: %s',
    (operation) => {
      const error = new RangeError('no total')
      expect(logged(error, operation)).toEqual({ cause: 'RangeError', message: 'no total', stack: expect.any(String) })
      expect(logged(error, operation, 'full')).toMatchObject({ message: 'no total' })
      expect(logged(error, operation, 'none')).toEqual({ cause: 'RangeError' })
    },
  )

  it('errorDetails logs an error of a port in full or by its name alone', () => {
    const error = new TypeError(SECRET, { cause: new Error('socket') })
    const full = { cause: 'TypeError', message: SECRET, stack: expect.stringContaining('Caused by Error: socket') }
    expect(logged(error, 'channel', 'full')).toEqual(full)
    expect(logged(error, 'channel', 'none')).toEqual({ cause: 'TypeError' })
  })

  it('onError receives the original error and its context', () => {
    const seen: unknown[] = []
    const hooks: ErrorHooks = { onError: (...args) => seen.push(args) }
    const error = Object.freeze({ thrown: true })
    const context = { operation: 'channel', channel: 'mail', eventType: undefined } as const
    reportFault(error, context, LINE, { clock, logger: recordingLogger(), hooks })
    expect(seen).toEqual([[error, { operation: 'channel', channel: 'mail' }]])
    expect((seen[0] as unknown[])[0]).toBe(error)
  })

  it('onError is called as a method of its object', () => {
    const hooks = {
      seen: [] as unknown[],
      onError(error: unknown) {
        this.seen.push(error)
      },
    }
    reportFault('x', { operation: 'store' }, LINE, { clock, logger: recordingLogger(), hooks })
    expect(hooks.seen).toEqual(['x'])
  })

  it.each<[string, NonNullable<ErrorHooks['onError']>]>([
    ['throws', () => fail()],
    ['rejects', async () => fail()],
    ['gives a query that rejects', () => QUERY],
  ])('When onError %s, both errors are logged, and the second calls no hook', async (_, onError) => {
    await withoutStrayRejections(async () => {
      let calls = 0
      const hooks: ErrorHooks = {
        onError(...args) {
          calls++
          return onError(...args)
        },
      }
      const logger = recordingLogger()
      reportFault(new Error('no'), { operation: 'template' }, LINE, { clock, logger, hooks })
      await settled()
      expect(logger.lines).toMatchObject([
        { event: 'x.threw', fields: { message: 'no' } },
        { event: 'hook.threw', fields: { hook: 'onError', message: 'tracker' } },
      ])
      expect(calls).toBe(1)
    })
  })

  it('onError is called although earlier calls never settle', async () => {
    const clock = fakeClock()
    const logger = recordingLogger()
    const seen: unknown[] = []
    const hooks: ErrorHooks = {
      onError(error) {
        seen.push(error)
        return new Promise(() => {})
      },
    }
    const report = (error: unknown) => reportFault(error, { operation: 'store' }, LINE, { clock, logger, hooks })
    report('first')
    report('second')
    clock.advance(60_000)
    report('third')
    await settled()
    expect(seen).toEqual(['first', 'second', 'third'])
    const slow = logger.lines.filter(({ event }) => event === 'hook.slow')
    expect(slow).toEqual(Array(2).fill({ level: 'warn', event: 'hook.slow', fields: { hook: 'onError' } }))
  })

  it('A settled onError leaves no timer behind', async () => {
    const clock = fakeClock()
    const logger = recordingLogger()
    for (const onError of [async () => {}, async () => fail()])
      reportFault('x', { operation: 'store' }, LINE, { clock, logger, hooks: { onError } })
    expect(clock.timers).toBe(2)
    await settled()
    expect(clock.timers).toBe(0)
  })

  it('An error of a library is logged without its message', () => {
    const logger = recordingLogger()
    reportFault(new RangeError(SECRET), { operation: 'template' }, { ...LINE, isLibrary: true }, { clock, logger })
    expect(logger.lines[0]?.fields).toEqual({ cause: 'RangeError', stack: expect.any(String) })
  })

  it('An error inside a call of onError is only logged', () => {
    const logger = recordingLogger()
    let calls = 0
    const hooks: ErrorHooks = {
      onError() {
        calls++
        reportFault(new Error('again'), { operation: 'queue' }, LINE, { clock, logger, hooks })
      },
    }
    for (let times = 0; times < 2; times++)
      reportFault(new Error('no'), { operation: 'queue' }, LINE, { clock, logger, hooks })
    expect(calls).toBe(2)
    expect(logger.lines).toHaveLength(4)
  })
})

function fail(): never {
  throw new Error('tracker')
}

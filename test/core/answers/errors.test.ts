import { describe, expect, it } from 'vitest'
import { problem, refuse } from '../../../src/core/answers/result.ts'
import { isSallyportError, PROBLEM_CODES, SallyportError, statusOf } from '../../../src/errors.ts'

describe('the problem codes', () => {
  it('Every problem code has an error status, a type and a title', () => {
    for (const code of PROBLEM_CODES) {
      const { status, body } = problem(refuse(code, 'x'), 'req_1')
      expect(status).toBe(statusOf(code))
      expect(status).toBeGreaterThanOrEqual(400)
      expect(status).toBeLessThan(600)
      expect(body).toMatchObject({ type: `urn:sallyport:problem:${code}`, status, code })
      expect(body).toHaveProperty('title', expect.stringMatching(/\w/))
    }
  })

  it('The table of problem codes is frozen', () => {
    expect(Object.isFrozen(PROBLEM_CODES)).toBe(true)
  })
})

describe('SallyportError', () => {
  it('SallyportError names every problem and its place in the message', () => {
    const error = new SallyportError('events_invalid', 'The event catalogue cannot be used:', [
      { event: 'a', channel: 'email', field: 'html', line: 2, column: 7, detail: 'is not closed' },
      { event: 'b', field: 'when', pointer: '/and/0', detail: 'is no operator' },
      { detail: 'is empty' },
    ])
    expect(error.message).toBe(
      [
        'The event catalogue cannot be used:',
        '  - event "a", channel "email", field "html", line 2, column 7: is not closed',
        '  - event "b", field "when", at "/and/0": is no operator',
        '  - is empty',
      ].join('\n'),
    )
    expect(error).toMatchObject({ name: 'SallyportError', code: 'events_invalid' })
    expect(error.stack).toContain('errors.test.ts')
  })

  it('isSallyportError recognises only SallyportErrors, also of another copy of the package', () => {
    const other = Object.defineProperty(new Error('x'), Symbol.for('sallyport.error'), { value: true })
    expect(isSallyportError(new SallyportError('config_invalid', 'x'))).toBe(true)
    expect(isSallyportError(other)).toBe(true)
    for (const stranger of [new Error('x'), { name: 'SallyportError' }, null, undefined, 'SallyportError', 5]) {
      expect(isSallyportError(stranger)).toBe(false)
    }
  })
})

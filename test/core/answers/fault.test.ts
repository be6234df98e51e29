import { describe, expect, it } from 'vitest'
import { answering, port } from '../../../src/core/answers/fault.ts'
import { refuse, success } from '../../../src/core/answers/result.ts'
import { SallyportError } from '../../../src/errors.ts'
import { countingIds, recordingLogger, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'

function answerDeps() {
  return { ids: countingIds(), logger: recordingLogger(), clock: fakeClock(), auth: testAuth }
}

const SECRET = 'jane@example.com is not unique'

describe('answering', () => {
  it('`answering` gives the result of its steps', async () => {
    const deps = answerDeps()
    expect(await answering(deps, async () => success(200, 'fine'))).toEqual({
      ok: true,
      status: 200,
      headers: {},
      body: 'fine',
    })
    expect(deps.logger.lines).toEqual([])
  })

  it('`answering` answers a refusal with problem details and a request id, and logs nothing', async () => {
    const deps = answerDeps()
    const errors = [{ pointer: '/a', code: 'required', detail: 'is required' } as const]
    expect(await answering(deps, async () => refuse('validation_failed', 'One place.', { errors }))).toEqual({
      ok: false,
      status: 422,
      headers: {},
      body: {
        type: 'urn:sallyport:problem:validation_failed',
        title: 'The body is not valid',
        status: 422,
        detail: 'One place.',
        code: 'validation_failed',
        requestId: 'req_1',
        errors,
      },
    })
    expect(deps.logger.lines).toEqual([])
  })

  it('A problem lists at most 50 faults', async () => {
    const errors = Array.from({ length: 80 }, (_, at) => ({ pointer: `/${at}`, code: 'type' as const, detail: 'x' }))
    const answer = await answering(answerDeps(), async () => refuse('validation_failed', 'Many.', { errors }))
    expect(answer.ok ? [] : answer.body.errors).toEqual(errors.slice(0, 50))
  })

  it.each(['store_unavailable', 'directory_unavailable', 'auth_unavailable'] as const)(
    'A port that throws is answered %s with Retry-After, and its cause is only in the log',
    async (code) => {
      const deps = answerDeps()
      const answer = await answering(deps, () =>
        port(code, async () => {
          throw Object.assign(new TypeError(SECRET), { code: '23505' })
        }),
      )
      expect(answer).toMatchObject({
        ok: false,
        status: 503,
        headers: { 'retry-after': '1' },
        body: { code, status: 503, detail: 'Try again shortly.', requestId: 'req_1' },
      })
      expect(deps.logger.lines).toEqual([
        {
          level: 'error',
          event: 'request.failed',
          fields: {
            requestId: 'req_1',
            code,
            detail: 'Try again shortly.',
            cause: 'TypeError',
            causeCode: '23505',
            stack: expect.any(String),
          },
        },
      ])
      expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('jane')
    },
  )

  it('A port that throws synchronously is answered 503', async () => {
    const answer = await answering(answerDeps(), () =>
      port('store_unavailable', () => {
        throw new Error('no')
      }),
    )
    expect(answer).toMatchObject({ status: 503 })
  })

  it('Any other thrown error is answered internal_error without Retry-After', async () => {
    const deps = answerDeps()
    const answer = await answering(deps, async () => {
      throw new RangeError(SECRET)
    })
    expect(answer).toMatchObject({ ok: false, status: 500, headers: {}, body: { code: 'internal_error' } })
    expect(deps.logger.lines).toMatchObject([{ fields: { code: 'internal_error', cause: 'RangeError' } }])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('jane')
  })

  it('A store that is not migrated yet is answered 503 with a Retry-After of 30 seconds', async () => {
    const deps = answerDeps()
    const answer = await answering(deps, () =>
      port('store_unavailable', () => Promise.reject(new SallyportError('config_invalid', 'run migrate', []))),
    )
    const detail = 'Try again later.'
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '30' },
      body: { code: 'store_unavailable', detail },
    })
    expect(deps.logger.lines).toMatchObject([{ fields: { detail, causeCode: 'config_invalid' } }])
  })

  it.each([
    ['store_unavailable', 'option_invalid'],
    ['directory_unavailable', 'config_invalid'],
  ] as const)(
    'a port %s that throws %s is a mistake of the host, answered 500 without Retry-After',
    async (code, fault) => {
      const deps = answerDeps()
      const hooks = { onError: (_: unknown, context: object) => contexts.push(context) }
      const contexts: object[] = []
      const answer = await answering({ ...deps, hooks }, () =>
        port(code, () => Promise.reject(new SallyportError(fault, 'wrong', [])), { eventType: 'e' }),
      )
      const body = { code: 'internal_error', detail: 'The request could not be handled.' }
      expect(answer).toMatchObject({ status: 500, headers: {}, body })
      expect(contexts).toMatchObject([{ eventType: 'e', requestId: 'req_1' }])
    },
  )
})

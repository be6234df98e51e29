import { describe, expect, it } from 'vitest'
import { answering, port } from '../../../src/core/answers/fault.ts'
import { refuse, success } from '../../../src/core/answers/result.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'

function answerDeps() {
  return { ids: countingIds(), logger: recordingLogger(), clock: fakeClock() }
}

const SECRET = 'jane@example.com is not unique'

describe('answering', () => {
  it('answering gives the result of its steps', async () => {
    const deps = answerDeps()
    expect(await answering(deps, async () => success(200, 'fine'))).toEqual({
      ok: true,
      status: 200,
      headers: {},
      body: 'fine',
    })
    expect(deps.logger.lines).toEqual([])
  })

  it('answers a refusal as problem details with a request id, and logs nothing', async () => {
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

  it('lists at most 50 faults', async () => {
    const errors = Array.from({ length: 80 }, (_, at) => ({ pointer: `/${at}`, code: 'type' as const, detail: 'x' }))
    const answer = await answering(answerDeps(), async () => refuse('validation_failed', 'Many.', { errors }))
    expect(answer.ok ? [] : answer.body.errors).toEqual(errors.slice(0, 50))
  })

  it.each(['store_unavailable', 'directory_unavailable', 'auth_unavailable'] as const)(
    'answers a port that throws with %s and Retry-After, its cause in the log alone',
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

  it('a port that throws synchronously is answered too', async () => {
    const answer = await answering(answerDeps(), () =>
      port('store_unavailable', () => {
        throw new Error('no')
      }),
    )
    expect(answer).toMatchObject({ status: 503 })
  })

  it('any other thrown error is answered internal_error without Retry-After', async () => {
    const deps = answerDeps()
    const answer = await answering(deps, async () => {
      throw new RangeError(SECRET)
    })
    expect(answer).toMatchObject({ ok: false, status: 500, headers: {}, body: { code: 'internal_error' } })
    expect(deps.logger.lines).toMatchObject([{ fields: { code: 'internal_error', cause: 'RangeError' } }])
    expect(JSON.stringify([answer, deps.logger.lines])).not.toContain('jane')
  })
})

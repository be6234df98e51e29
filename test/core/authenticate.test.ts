import { describe, expect, it } from 'vitest'
import { isRefused } from '../../src/core/answers/result.ts'
import { authenticate } from '../../src/core/authenticate.ts'
import type { Operation, Principal } from '../../src/model/principal.ts'
import type { AuthVerifier } from '../../src/ports/auth-verifier.ts'
import { fakeClock } from '../support/fake-clock.ts'

const PRINCIPAL: Principal = { id: 'p', tenant: 'default' }

/** A verifier that accepts every token and records its calls. */
function openVerifier(): AuthVerifier & { readonly asked: [string, Operation][] } {
  const asked: [string, Operation][] = []
  return {
    asked,
    async verify(token, operation) {
      asked.push([token, operation])
      return PRINCIPAL
    },
  }
}

async function answerTo(authorization: string | readonly string[] | undefined) {
  const auth = openVerifier()
  const answer = await authenticate({ authorization }, 'dispatch', auth, fakeClock())
  return isRefused(answer)
    ? { refused: answer.refused, challenge: answer.headers?.['www-authenticate'], asked: auth.asked.length }
    : { token: auth.asked[0]?.[0] }
}

const BARE = { refused: 'unauthorized', challenge: 'Bearer realm="sallyport"', asked: 0 }
const INVALID = { refused: 'invalid_token', challenge: 'Bearer realm="sallyport", error="invalid_token"', asked: 0 }

describe('authenticate', () => {
  it.each([{ tenant: '' }, { tenant: 'a b' }, { tenant: 'a\0b' }, { tenant: 't', sessionId: 's 1' }])(
    '`authenticate` rejects the principal %j, whose parts cannot be parts of keys',
    async (scope) => {
      const verifier = { verify: async () => ({ id: 'x', ...scope }) }
      expect(await authenticate({ authorization: 'Bearer a' }, 'dispatch', verifier, fakeClock())).toMatchObject({
        refused: 'internal_error',
        cause: { code: 'answer_invalid', message: expect.stringContaining('visible ASCII') },
      })
    },
  )

  it.each<[string, string | undefined]>([
    ['no header', undefined],
    ['an empty header', ''],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['a scheme that only begins like it', 'Bearertoken'],
  ])('`authenticate` answers %s with a bare challenge, without the verifier', async (_, header) => {
    expect(await answerTo(header)).toEqual(BARE)
  })

  it.each<[string, string | readonly string[]]>([
    ['no token', 'Bearer'],
    ['an empty token', 'Bearer '],
    ['two tokens', 'Bearer a b'],
    ['a space after the token', 'Bearer a '],
    ['a comma', 'Bearer a,b'],
    ['a quote', 'Bearer "a"'],
    ['a character that is not ASCII', 'Bearer tokén'],
    ['a NUL', 'Bearer a\0'],
    ['padding alone', 'Bearer =='],
    ['padding in the middle', 'Bearer a=b'],
    ['4,097 characters', `Bearer ${'a'.repeat(4_097)}`],
    ['4,096 characters and padding', `Bearer ${'a'.repeat(4_096)}=`],
    ['endless padding', `Bearer a${'='.repeat(100_000)}`],
    ['two headers', ['Bearer a', 'Bearer b']],
    ['one header in a list', ['Bearer a']],
  ])('`authenticate` answers %s with invalid_token, without the verifier', async (_, header) => {
    expect(await answerTo(header)).toEqual(INVALID)
  })

  it('`authenticate` refuses a token with a line break', async () => {
    expect(await answerTo('Bearer a\r\nX: y')).toMatchObject({ refused: expect.any(String), asked: 0 })
  })

  it.each([
    ['Bearer abc', 'abc'],
    ['bearer abc', 'abc'],
    ['BEARER   abc', 'abc'],
    ['Bearer aZ0-._~+/==', 'aZ0-._~+/=='],
    [`Bearer ${'a'.repeat(4_096)}`, 'a'.repeat(4_096)],
  ])('`authenticate` passes the token of %s on unchanged', async (header, token) => {
    expect(await answerTo(header)).toEqual({ token })
  })

  it('`authenticate` passes the operation to the verifier and gives its principal', async () => {
    const auth = openVerifier()
    for (const operation of ['dispatch', 'session_run'] as const) {
      expect(await authenticate({ authorization: 'Bearer abc' }, operation, auth, fakeClock())).toBe(PRINCIPAL)
    }
    expect(auth.asked).toEqual([
      ['abc', 'dispatch'],
      ['abc', 'session_run'],
    ])
  })

  it.each(['invalid_token', 'insufficient_scope'] as const)(
    '`authenticate` passes the refusal %s on with its challenge',
    async (refused) => {
      const verifier = { verify: async () => ({ refused }) }
      const answer = await authenticate({ authorization: 'Bearer abc' }, 'dispatch', verifier, fakeClock())
      expect(answer).toMatchObject({
        refused,
        headers: { 'www-authenticate': `Bearer realm="sallyport", error="${refused}"` },
      })
    },
  )

  it('`authenticate` reads no other header', async () => {
    const headers = { cookie: 'token=abc', 'x-api-key': 'abc', 'proxy-authorization': 'Bearer abc' }
    expect(await authenticate(headers, 'dispatch', openVerifier(), fakeClock())).toMatchObject({
      refused: 'unauthorized',
    })
  })
})

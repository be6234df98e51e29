import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../src/model/principal.ts'
import { exchangeToken } from '../../../src/plugins/agent-tokens/exchange-token.ts'
import type { ExchangedToken, NarrowedToken } from '../../../src/ports/auth-verifier.ts'
import { fakeClock } from '../../support/fake-clock.ts'

const TOKEN: Principal = { id: 'j', tenant: 't', sessionId: 's' }

/** Exchanges a token with a verifier that signs anything. */
async function exchanged(principal: Partial<Principal> = {}, body: object = {}, signed: Partial<ExchangedToken> = {}) {
  const clock = fakeClock()
  const narrowed: NarrowedToken[] = []
  const listed: string[] = []
  const answer = await exchangeToken(
    { ...TOKEN, ...principal },
    { headers: { authorization: 'Bearer a' }, body: { grants: {}, ...body } },
    {
      clock,
      async exchange(_, asked) {
        narrowed.push(asked)
        return { token: 'b', jti: 'k', expiresAt: asked.expiresAt, ...signed }
      },
      onExchanged: (jti) => listed.push(jti),
    },
  )
  return { answer, now: clock.now(), narrowed: narrowed[0], listed }
}

describe('the exchange of a token', () => {
  it('The new token lives 15 minutes, as long as asked, or as long as the first', async () => {
    const lifeOf = async (life: number | undefined, body: object) => {
      const expiresAt = fakeClock().now() + (life ?? 0)
      const { narrowed, now } = await exchanged(life === undefined ? {} : { expiresAt }, body)
      return (narrowed?.expiresAt ?? 0) - now
    }
    expect(await lifeOf(undefined, {})).toBe(900_000)
    expect(await lifeOf(undefined, { expiresInMs: 60_000 })).toBe(60_000)
    expect(await lifeOf(30_000, { expiresInMs: 60_000 })).toBe(30_000)
    expect(await lifeOf(90_000, { expiresInMs: 60_000 })).toBe(60_000)
  })

  it('The new token is for the run that was asked for, or that of the first', async () => {
    expect((await exchanged()).narrowed).not.toHaveProperty('runId')
    expect((await exchanged({}, { runId: 'r' })).narrowed?.runId).toBe('r')
    expect((await exchanged({ runId: 'r' })).narrowed?.runId).toBe('r')
    expect((await exchanged({ runId: 'r' }, { runId: 'q' })).answer).toMatchObject({
      refused: 'insufficient_scope',
      detail: 'The request exceeds what the token allows.',
      errors: [{ pointer: '/runId', code: 'not_allowed', detail: 'the token is for another run' }],
    })
  })

  it('A token that has just ended is not exchanged', async () => {
    const end = fakeClock().now()
    expect((await exchanged({ expiresAt: end })).answer).toMatchObject({ refused: 'invalid_token' })
    expect((await exchanged({ expiresAt: end + 1 })).answer).toMatchObject({ status: 201 })
  })

  it('A query, and a verifier that fails, are refused before anything is listed', async () => {
    const listed: string[] = []
    const deps = {
      clock: fakeClock(),
      exchange: () => Promise.reject(new Error('down')),
      onExchanged: (jti: string) => listed.push(jti),
    }
    const request = { headers: { authorization: 'Bearer a' }, body: { grants: {} } }
    expect(await exchangeToken(TOKEN, { ...request, query: { x: '1' } }, deps)).toMatchObject({
      refused: 'query_invalid',
    })
    await expect(exchangeToken(TOKEN, request, deps)).rejects.toMatchObject({ code: 'auth_unavailable' })
    expect(await exchangeToken(TOKEN, { ...request, headers: {} }, deps)).toMatchObject({ refused: 'unauthorized' })
    expect(listed).toEqual([])
  })

  it('The id of a new token is listed, and that of a refused one is not', async () => {
    expect((await exchanged()).listed).toEqual(['k'])
    expect((await exchanged({}, {}, { token: 'b'.repeat(4_097) })).listed).toEqual([])
  })

  it('A new token that no request can send is refused with its length', async () => {
    expect((await exchanged({}, {}, { token: 'b'.repeat(4_096) })).answer).toMatchObject({ status: 201 })
    expect((await exchanged({}, {}, { token: 'b'.repeat(4_097) })).answer).toMatchObject({
      errors: [
        {
          ...{ pointer: '/grants', code: 'too_long' },
          detail: 'the token would have 4097 characters, over the 4096 that fit: grant fewer names',
        },
      ],
    })
  })
})

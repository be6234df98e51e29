import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/core/authenticate.ts'

/** What becomes of a call whose verifier gives this. */
async function answer(given: unknown, authorization: string | readonly string[] = 'Bearer a'): Promise<unknown> {
  return authenticate({ authorization }, 'dispatch', { verify: async () => given as never })
}

describe('a principal', () => {
  const principal = { id: 'p', tenant: 'default', sessionId: 's1' }
  const lists = { events: ['e'], channels: ['a'], recipients: ['r'] }

  it('a principal may have a grant of three lists or no grant', async () => {
    for (const whole of [principal, { ...principal, dispatch: lists }]) expect(await answer(whole)).toBe(whole)
  })

  it.each(['events', 'channels', 'recipients'])(
    'a principal with a grant whose %s are no list is refused',
    async (name) => {
      const given = { ...principal, dispatch: { ...lists, [name]: 'x' } }
      expect(await answer(given)).toMatchObject({ refused: 'internal_error', cause: { code: 'option_invalid' } })
    },
  )

  it.each([5, null, []])('a principal with the grant %j is refused', async (dispatch) => {
    expect(await answer({ ...principal, dispatch })).toMatchObject({ refused: 'internal_error' })
  })
})

describe('a refusal', () => {
  it('the log of a malformed principal says what is wrong', async () => {
    expect(await answer({ refused: 'insufficient_scope' })).toMatchObject({
      refused: 'insufficient_scope',
      detail: 'The token does not allow this.',
    })
    expect(await answer({ refused: 'invalid_token' })).toMatchObject({
      refused: 'invalid_token',
      detail: 'The token is malformed, unknown, expired or revoked.',
    })
  })

  it('a repeated Authorization header is refused, even as a list of one', async () => {
    const principal = { id: 'p', tenant: 'default' }
    for (const headers of [['Bearer a'], ['Bearer a', 'Bearer b']]) {
      expect(await answer(principal, headers)).toMatchObject({ refused: 'invalid_token' })
    }
  })
})

import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../src/model/principal.ts'
import { answerOf, problemOf, recorder, runOf } from './recorder.ts'

/** Posts with a session token, for a user or for none. */
function posts(userId?: string) {
  const principal: Principal = { id: 't', tenant: 'default', sessionId: 's1', ...(userId !== undefined && { userId }) }
  return recorder({
    auth: { verify: async (token) => (token === 'app' ? { id: 'app', tenant: 'default' } : principal) },
  })
}

const TOKEN = { token: 'session' }

describe('users of session tokens', () => {
  it('A run gets the user of its session token', async () => {
    const { post } = posts('ada')
    const result = await post({ runId: 'r1' }, TOKEN)
    expect(runOf(result).userId).toBe('ada')
    expect(answerOf(result).ignored).toEqual([])
  })

  it('A post may name the user of its token without being ignored', async () => {
    const result = await posts('ada').post({ runId: 'r1', userId: 'ada' }, TOKEN)
    expect(runOf(result).userId).toBe('ada')
    expect(answerOf(result).ignored).toEqual([])
  })

  it('Another user in a post is listed as ignored, without the name', async () => {
    const result = await posts('ada').post({ runId: 'r1', userId: 'bob', model: 'm' }, TOKEN)
    expect(result.status).toBe(201)
    expect(runOf(result)).toMatchObject({ userId: 'ada', model: 'm' })
    expect(answerOf(result).ignored).toEqual([{ field: 'userId', reason: 'not_granted', kept: 'ada' }])
    expect(JSON.stringify(result)).not.toContain('bob')
  })

  it('A token without a user cannot name a user', async () => {
    const result = await posts().post({ runId: 'r1', userId: 'bob' }, TOKEN)
    expect(runOf(result)).not.toHaveProperty('userId')
    expect(answerOf(result).ignored).toEqual([{ field: 'userId', reason: 'not_granted' }])
  })

  it('A token does not change the user that an application named', async () => {
    const { post } = posts()
    await post({ runId: 'r1', userId: 'ada' })
    await post({ runId: 'r1', userId: 'bob', seq: 9 }, TOKEN)
    expect(runOf(await post({ runId: 'r1' })).userId).toBe('ada')
  })

  it('A token adds no spend to another user', async () => {
    const { post, deps } = posts('ada')
    await post({ runId: 'r1', userId: 'bob', status: 'completed', counts: { inputTokens: 5 } }, TOKEN)
    expect(await deps.store.findSpend('default', 'bob', 0)).toMatchObject({ runs: 0 })
    expect(await deps.store.findSpend('default', 'ada', 0)).toMatchObject({ runs: 1, tokens: 5 })
  })

  it('An application may name any user', async () => {
    expect(runOf(await posts().post({ runId: 'r1', userId: 'bob' })).userId).toBe('bob')
  })

  it.each(['', 'x'.repeat(201), 'a\0b', '\ud800'])(
    'A verifier that gives the invalid user %j is answered internal_error',
    async (userId) => {
      expect(problemOf(await posts(userId).post({ runId: 'r1' }, TOKEN)).code).toBe('internal_error')
    },
  )
})

import { describe, expect, it } from 'vitest'
import type { Principal } from '../../../src/model/principal.ts'
import { answerOf, problemOf, recorder, runOf } from './recorder.ts'

/** Posts with the token of a session, for a user or for none. */
function posts(userId?: string) {
  const principal: Principal = { id: 't', tenant: 'default', sessionId: 's1', ...(userId !== undefined && { userId }) }
  return recorder({
    auth: { verify: async (token) => (token === 'app' ? { id: 'app', tenant: 'default' } : principal) },
  })
}

const TOKEN = { token: 'session' }

describe('whose runs a session token records', () => {
  it('names the user that the token is for', async () => {
    const { post } = posts('ada')
    const result = await post({ runId: 'r1' }, TOKEN)
    expect(runOf(result).userId).toBe('ada')
    expect(answerOf(result).ignored).toEqual([])
  })

  it('lets it name that user, and says nothing', async () => {
    const result = await posts('ada').post({ runId: 'r1', userId: 'ada' }, TOKEN)
    expect(runOf(result).userId).toBe('ada')
    expect(answerOf(result).ignored).toEqual([])
  })

  it('leaves out whom else it names, and says so without the name', async () => {
    const result = await posts('ada').post({ runId: 'r1', userId: 'bob', model: 'm' }, TOKEN)
    expect(result.status).toBe(201)
    expect(runOf(result)).toMatchObject({ userId: 'ada', model: 'm' })
    expect(answerOf(result).ignored).toEqual([{ field: 'userId', reason: 'not_granted', kept: 'ada' }])
    expect(JSON.stringify(result)).not.toContain('bob')
  })

  it('lets a token for nobody name nobody', async () => {
    const result = await posts().post({ runId: 'r1', userId: 'bob' }, TOKEN)
    expect(runOf(result)).not.toHaveProperty('userId')
    expect(answerOf(result).ignored).toEqual([{ field: 'userId', reason: 'not_granted' }])
  })

  it('takes a run from no user that an application named', async () => {
    const { post } = posts()
    await post({ runId: 'r1', userId: 'ada' })
    const result = await post({ runId: 'r1', userId: 'bob', seq: 9 }, TOKEN)
    expect(runOf(result).userId).toBe('ada')
  })

  it('spends nothing of a user who is not its own', async () => {
    const { post, deps } = posts('ada')
    await post({ runId: 'r1', userId: 'bob', status: 'completed', counts: { inputTokens: 5 } }, TOKEN)
    expect(await deps.store.findSpend('default', 'bob', 0)).toMatchObject({ runs: 0 })
    expect(await deps.store.findSpend('default', 'ada', 0)).toMatchObject({ runs: 1, tokens: 5 })
  })

  it('lets an application name anybody', async () => {
    expect(runOf(await posts().post({ runId: 'r1', userId: 'bob' })).userId).toBe('bob')
  })

  it.each(['', 'x'.repeat(201), 'a\0b', '\ud800'])(
    'takes a verifier that gives a user %j for one at fault',
    async (userId) => {
      expect(problemOf(await posts(userId).post({ runId: 'r1' }, TOKEN)).code).toBe('internal_error')
    },
  )
})

import { describe, expect, it } from 'vitest'
import { authenticate } from '../../src/core/authenticate.ts'
import { OPERATIONS, type Operation } from '../../src/model/principal.ts'
import { fakeClock } from '../support/fake-clock.ts'

/** The result of a call whose verifier returns `given`. */
async function answer(given: unknown, authorization: string | readonly string[] = 'Bearer a'): Promise<unknown> {
  return authenticate({ authorization }, 'dispatch', { verify: async () => given as never }, fakeClock())
}

const lists = { events: ['e'], channels: ['a'], recipients: ['r'] }

describe('a principal', () => {
  const principal = { id: 'p', tenant: 'default', sessionId: 's1' }

  it('A principal may have a grant of three lists or no grant', async () => {
    for (const whole of [principal, { ...principal, dispatch: lists }]) expect(await answer(whole)).toBe(whole)
  })

  it.each(['events', 'channels', 'recipients'])(
    'A principal with a grant whose %s are not a list is refused',
    async (name) => {
      const given = { ...principal, dispatch: { ...lists, [name]: 'x' } }
      expect(await answer(given)).toMatchObject({ refused: 'internal_error', cause: { code: 'answer_invalid' } })
    },
  )

  it.each([5, null, []])('A principal with the grant %j is refused', async (dispatch) => {
    expect(await answer({ ...principal, dispatch })).toMatchObject({ refused: 'internal_error' })
  })
})

describe('the operations of a principal', () => {
  const allowed = async (principal: object, operation: Operation): Promise<boolean> => {
    const verifier = { verify: async () => principal as never }
    const answer = await authenticate({ authorization: 'Bearer a' }, operation, verifier, fakeClock())
    if (answer === principal) return true
    expect(answer).toMatchObject({ refused: 'insufficient_scope', detail: 'The token does not allow this.' })
    return false
  }
  const allowedOf = async (principal: object): Promise<readonly Operation[]> => {
    const answers = await Promise.all(OPERATIONS.map((operation) => allowed(principal, operation)))
    return OPERATIONS.filter((_, at) => answers[at])
  }
  const app = { id: 'p', tenant: 'default' }
  const session = { ...app, sessionId: 's1' }

  it('A principal may dispatch and record runs by default', async () => {
    expect(await allowedOf(app)).toEqual(['dispatch', 'session_run'])
    expect(await allowedOf(session)).toEqual(['dispatch', 'session_run'])
  })

  it('A principal may do exactly what its operations name, whatever its verifier was asked', async () => {
    for (const operations of [[], ['read'], ['session_run', 'manage'], OPERATIONS])
      expect(await allowedOf({ ...app, operations })).toEqual(operations)
  })

  it('A principal of a session may never read or manage', async () => {
    expect(await allowedOf({ ...session, operations: OPERATIONS })).toEqual(['dispatch', 'session_run', 'approval'])
  })

  it.each([[['write']], [['dispatch', 'Read']], [[undefined]], ['dispatch'], [{}], [null], [5], [Array(1)]])(
    'A principal with the operations %j is a fault of the host',
    async (operations) => {
      expect(await answer({ ...app, operations })).toMatchObject({
        refused: 'internal_error',
        cause: { code: 'answer_invalid' },
      })
    },
  )
})

describe('the end of a session token', () => {
  const NOW = 1_000_000
  const longest = NOW + 86_400_000 + 60_000
  const answerAt = async (given: object): Promise<unknown> =>
    authenticate({ authorization: 'Bearer a' }, 'dispatch', { verify: async () => given as never }, { now: () => NOW })

  it('A principal of a session ends within 24 hours and a minute; a later end is a fault of the host', async () => {
    const session = { id: 'p', tenant: 'default', sessionId: 's1' }
    for (const end of [{}, { expiresAt: 0 }, { expiresAt: longest }]) {
      const whole = { ...session, ...end }
      expect(await answerAt(whole)).toBe(whole)
    }
    expect(await answerAt({ ...session, expiresAt: longest + 1 })).toMatchObject({
      refused: 'internal_error',
      cause: { code: 'answer_invalid', message: expect.stringContaining('at most 24 hours and a minute ahead') },
    })
  })

  it('An application may end later', async () => {
    const app = { id: 'p', tenant: 'default', expiresAt: longest * 2 }
    expect(await answerAt(app)).toBe(app)
  })
})

describe('the limits of a token', () => {
  const session = { id: 'p', tenant: 'default', sessionId: 's1' }
  const parents = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `p${at}` }))

  it.each([
    { runEvents: 0 },
    { runEvents: 1_000 },
    { runId: 'r:1._-' },
    { parents: [] },
    { parents: parents(8) },
    { parents: [{ id: 'a', maxDispatches: 1, maxApprovals: 1, runEvents: 0 }] },
    { approval: { events: [] } },
    { approval: { events: ['e'], maxApprovals: 1_000 } },
    { issuedAt: 5, expiresAt: 5.5 },
  ])('A principal with %j is accepted', async (limits) => {
    const whole = { ...session, ...limits }
    expect(await answer(whole)).toBe(whole)
  })

  it.each([
    { runEvents: -1 },
    { runEvents: 1_001 },
    { runEvents: 0.5 },
    { runEvents: '5' },
    { runId: '' },
    { runId: 'a b' },
    { runId: 5 },
    { parents: 'a' },
    { parents: parents(9) },
    { parents: [null] },
    { parents: [{ id: '' }] },
    { parents: [{ id: 'a', maxDispatches: 0 }] },
    { parents: [{ id: 'a', maxApprovals: 0 }] },
    { approval: true },
    { approval: {} },
    { approval: { events: [], maxApprovals: 1_001 } },
    { parents: [{ id: 'a', runEvents: -1 }] },
    { parents: Array(1) },
    { issuedAt: '5' },
    { expiresAt: Number.NaN },
    { userId: '' },
  ])('A principal with %j is a fault of the host', async (limits) => {
    expect(await answer({ ...session, ...limits })).toMatchObject({ refused: 'internal_error' })
  })

  it.each([{ runEvents: 5 }, { runId: 'r' }, { parents: [] }, { dispatch: lists }, { approval: { events: [] } }])(
    'A principal with %j needs a session',
    async (limits) => {
      const { sessionId, ...app } = session
      expect(await answer({ ...app, ...limits })).toMatchObject({ refused: 'internal_error' })
    },
  )

  it.each(['', 'a b', 'x'.repeat(201), 5, undefined])(
    'A principal with the id %j is a fault of the host',
    async (id) => {
      expect(await answer({ ...session, id })).toMatchObject({ refused: 'internal_error' })
    },
  )
})

describe('a refusal', () => {
  it('A refusal of the verifier has the detail of its code', async () => {
    expect(await answer({ refused: 'insufficient_scope' })).toMatchObject({
      refused: 'insufficient_scope',
      detail: 'The token does not allow this.',
    })
    expect(await answer({ refused: 'invalid_token' })).toMatchObject({
      refused: 'invalid_token',
      detail: 'The token is malformed, unknown, expired or revoked.',
    })
  })

  it('A repeated Authorization header is refused, even as a list of one', async () => {
    const principal = { id: 'p', tenant: 'default' }
    for (const headers of [['Bearer a'], ['Bearer a', 'Bearer b']]) {
      expect(await answer(principal, headers)).toMatchObject({ refused: 'invalid_token' })
    }
  })
})

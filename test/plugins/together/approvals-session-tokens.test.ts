import { describe, expect, it } from 'vitest'
import { issueSessionToken } from '../../../src/auth/issue-session-token.ts'
import type { SessionTokenGrants } from '../../../src/auth/session-token-claims.ts'
import type { SessionTokenKey } from '../../../src/auth/session-token-key.ts'
import { sessionTokens } from '../../../src/auth/session-tokens.ts'
import { agentTokens } from '../../../src/plugins/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { ADA, type ApprovalHost, approving, REFUND } from '../approvals/approving.ts'

const PATH = '/api/agents/session/approval'
const ASK = { sessionId: 's1', runId: 'r1', eventType: 'refund.approval', message: 'Refund?', action: REFUND }
const KEY: SessionTokenKey = { kid: 'k1', key: new Uint8Array(32).fill(3) }
const GRANTS: SessionTokenGrants = { approval: { events: ['refund.approval'] } }

interface Agents extends ApprovalHost {
  token(grants?: SessionTokenGrants, sessionId?: string): Promise<string>
  exchange(token: string, body: object): Promise<string>
}

/** A host whose agents have session tokens, which they can exchange. */
function agents(): Agents {
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  const audience = 'agents'
  const auth = sessionTokens({ keys: [KEY], audience, clock })
  const host = approving({ clock, auth, beside: [agentTokens()] })
  return {
    ...host,
    token: (grants = GRANTS, sessionId = 's1') => issueSessionToken({ sessionId, grants, key: KEY, audience, clock }),
    async exchange(token, body) {
      const { status, body: answer } = await host.ask('/api/agents/session/token', token, body)
      expect(status).toBe(201)
      return String(answer.token)
    },
  }
}

describe('session tokens and approvals', () => {
  it('A token with the grant asks, waits, takes and withdraws in its own session', async () => {
    const { ask, token, answer } = agents()
    const own = await token()
    const asked = await ask(PATH, own, { ...ASK, approvalId: 'refund-1' })
    expect(asked).toMatchObject({ status: 200, body: { status: 'open', sessionId: 's1' } })
    expect(asked.body.requester).toMatch(/^[\da-f-]{36}$/)
    await answer()
    const one = `${PATH}/refund-1`
    expect(await ask(`${one}?sessionId=s1&waitMs=30000`, own)).toMatchObject({ body: { status: 'accepted' } })
    const use = { sessionId: 's1', action: REFUND, useId: 'u1' }
    // A run may go on with a later token of its session.
    expect(await ask(`${one}/consume`, await token(), use)).toMatchObject({ status: 200, body: { first: true } })
    await ask(PATH, own, { ...ASK, approvalId: 'refund-2' })
    expect(await ask(`${PATH}/refund-2/cancel`, own, { sessionId: 's1' })).toMatchObject({
      body: { status: 'cancelled' },
    })
  })

  it.each<[string, SessionTokenGrants, object]>([
    ['without the grant', { dispatch: { events: ['refund.approval'], channels: ['a'], recipients: [ADA] } }, {}],
    ['for another event', { approval: { events: ['plain.approval'] } }, {}],
    ['with an empty grant', { approval: { events: [] } }, {}],
    ['for another session', GRANTS, { sessionId: 's2' }],
  ])('A token %s asks nothing', async (_, grants, body) => {
    const { ask, token, sallyport } = agents()
    const refused = await ask(PATH, await token(grants), { ...ASK, ...body })
    expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    expect(await sallyport.approvals.list()).toMatchObject({ items: [] })
  })

  it('A token finds no approval of another session or run', async () => {
    const { ask, token, exchange, request, answer } = agents()
    await request()
    await answer()
    const foreign = await token(GRANTS, 's2')
    const sub = await exchange(await token(), { grants: GRANTS, runId: 'r2' })
    for (const [bearer, sessionId] of [
      [foreign, 's1'],
      [foreign, 's2'],
      [sub, 's1'],
    ] as const) {
      const missing = { status: 404, body: { code: 'approval_not_found' } }
      expect(await ask(`${PATH}/refund-1?sessionId=${sessionId}`, bearer)).toMatchObject(missing)
      expect(await ask(`${PATH}/refund-1/cancel`, bearer, { sessionId })).toMatchObject(missing)
      const use = { sessionId, action: REFUND, useId: 'u1' }
      expect(await ask(`${PATH}/refund-1/consume`, bearer, use)).toMatchObject(missing)
    }
    expect(await ask(PATH, sub, ASK)).toMatchObject({ status: 403 })
    expect(await ask(PATH, sub, { ...ASK, runId: 'r2' })).toMatchObject({ status: 200 })
  })

  it('No token answers, whatever it grants', async () => {
    const { ask, token, exchange, request } = agents()
    await request()
    const own = await token()
    const sub = await exchange(own, { grants: GRANTS })
    for (const bearer of [own, sub]) {
      const answer = { sessionId: 's1', user: ADA, answer: 'accept' }
      const refused = await ask(`${PATH}/refund-1/answer`, bearer, answer)
      expect(refused).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
      expect(await ask(`/api/agents/approvals`, bearer)).toMatchObject({ status: 403 })
    }
  })

  it('A verifier that lets a session token manage gives it no answer either', async () => {
    const { ask, request } = approving()
    await request()
    const answer = { sessionId: 's1', user: ADA, answer: 'accept' }
    expect(await ask(`${PATH}/refund-1/answer`, 'session', answer)).toMatchObject({ status: 403 })
  })

  it('Requests count for a token and for those from which it was exchanged; repeated and refused ones do not', async () => {
    const { ask, token, exchange } = agents()
    const own = await token({ approval: { events: ['refund.approval', 'plain.approval'], maxApprovals: 2 } })
    const sub = await exchange(own, { grants: GRANTS })
    const spent = { status: 403, body: { code: 'grant_spent' } }
    const one = { ...ASK, approvalId: 'a1' }
    expect(await ask(PATH, sub, one)).toMatchObject({ status: 200 })
    expect(await ask(PATH, sub, one)).toMatchObject({ status: 200, body: { replayed: true } })
    const unlinked = { ...ASK, eventType: 'plain.approval', approvalId: 'a2' }
    expect(await ask(PATH, own, unlinked)).toMatchObject({ status: 422, body: { code: 'approval_link_missing' } })
    expect(await ask(PATH, own, { ...ASK, approvalId: 'a3' })).toMatchObject({ status: 200 })
    expect(await ask(PATH, own, { ...ASK, approvalId: 'a4' })).toMatchObject(spent)
    expect(await ask(PATH, sub, { ...ASK, approvalId: 'a5' })).toMatchObject(spent)
    expect(await ask(`${PATH}/a4?sessionId=s1`, own)).toMatchObject({ status: 404 })
  })
})

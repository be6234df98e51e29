import { setImmediate } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { ADA, approving, REFUND } from './approving.ts'

const PATH = '/api/agents/session/approval'
const ONE = `${PATH}/refund-1`
const ASK = {
  ...{ sessionId: 's1', runId: 'r1', approvalId: 'refund-1', eventType: 'refund.approval' },
  ...{ message: 'Refund?', action: REFUND },
}
const OF = { sessionId: 's1' }

describe('the endpoints of approvals', () => {
  it('An application asks, another one answers, and the first one uses the action', async () => {
    const { ask } = approving()
    expect(await ask(PATH, 'asker', ASK)).toMatchObject({
      ...{ status: 200, body: { status: 'open', requester: 'asker', replayed: false } },
    })
    expect(await ask(`${ONE}?sessionId=s1`, 'asker')).toMatchObject({ status: 200, body: { status: 'open' } })
    const answer = { ...OF, user: ADA, answer: 'accept', comment: 'Fine' }
    expect(await ask(`${ONE}/answer`, 'manager', answer)).toMatchObject({ status: 200, body: { status: 'accepted' } })
    expect(await ask(`${ONE}?sessionId=s1&waitMs=30000`, 'asker')).toMatchObject({ body: { status: 'accepted' } })
    const use = { ...OF, useId: 'u1', action: REFUND }
    expect(await ask(`${ONE}/consume`, 'asker', use)).toMatchObject({
      status: 200,
      body: { consumed: true, first: true },
    })
    expect(await ask('/api/agents/approvals?status=ended&content=true', 'manager')).toMatchObject({
      body: { items: [{ approvalId: 'refund-1', message: 'Refund?' }] },
    })
    expect((await ask('/api/agents/approvals', 'manager')).body).not.toHaveProperty('items.0.message')
  })

  it('Only an application with manage answers, and no session token does anything', async () => {
    const { ask } = approving()
    await ask(PATH, 'asker', ASK)
    const answer = { ...OF, user: ADA, answer: 'accept' }
    for (const token of ['asker', 'session'])
      expect(await ask(`${ONE}/answer`, token, answer)).toMatchObject({
        status: 403,
        body: { code: 'insufficient_scope' },
      })
    const calls: [string, object?][] = [
      [PATH, { ...ASK, approvalId: 'own' }],
      [`${ONE}?sessionId=s1`],
      [`${ONE}/cancel`, OF],
      [`${ONE}/consume`, { ...OF, useId: 'u1', action: REFUND }],
    ]
    for (const [path, body] of calls)
      expect(await ask(path, 'session', body)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
    for (const [path, body] of calls)
      expect(await ask(path, 'manager', body)).toMatchObject({ status: 403, body: { code: 'insufficient_scope' } })
  })

  it("Another tenant's or session's approval is not found", async () => {
    const { ask } = approving()
    await ask(PATH, 'asker', ASK)
    const calls: [string, (of: object) => object | undefined][] = [
      [`${ONE}/cancel`, (of) => of],
      [`${ONE}/consume`, (of) => ({ ...of, useId: 'u1', action: REFUND })],
      [`${ONE}/answer`, (of) => ({ ...of, user: ADA, answer: 'accept' })],
    ]
    const missing = { status: 404, body: { code: 'approval_not_found' } }
    for (const [path, bodyOf] of calls) {
      expect(await ask(path, 'foreign', bodyOf(OF))).toMatchObject(missing)
      const token = path.endsWith('answer') ? 'manager' : 'asker'
      expect(await ask(path, token, bodyOf({ sessionId: 's2' }))).toMatchObject(missing)
    }
    expect(await ask(`${ONE}?sessionId=s1`, 'foreign')).toMatchObject(missing)
    expect(await ask(`${ONE}?sessionId=s2`, 'asker')).toMatchObject(missing)
    expect(await ask(`${PATH}/%00?sessionId=s1`, 'asker')).toMatchObject({ status: 404 })
  })

  it.each<[string, string, object | undefined, string]>([
    ['no session', `${ONE}`, undefined, 'query_invalid'],
    ['a wait of a minute', `${ONE}?sessionId=s1&waitMs=60000`, undefined, 'query_invalid'],
    ['a wait in words', `${ONE}?sessionId=s1&waitMs=long`, undefined, 'query_invalid'],
    ['an unknown parameter', `${ONE}?sessionId=s1&wait=1`, undefined, 'query_invalid'],
    ['an unknown member', PATH, { ...ASK, deadline: 1 }, 'validation_failed'],
    ['no use', `${ONE}/consume`, { ...OF, action: REFUND }, 'validation_failed'],
  ])('%s is refused', async (_, path, body, code) => {
    const { ask } = approving()
    expect(await ask(path, 'asker', body)).toMatchObject({ status: 422, body: { code } })
  })

  it('A wait holds no place of other requests', async () => {
    const { ask, clock } = approving({ maxInFlight: 1 })
    await ask(PATH, 'asker', ASK)
    const timers = clock.timers
    const waiting = ask(`${ONE}?sessionId=s1&waitMs=30000`, 'asker')
    while (clock.timers < timers + 2) await setImmediate()
    expect(await ask(`${ONE}?sessionId=s1`, 'asker')).toMatchObject({ status: 200, body: { status: 'open' } })
    expect(await ask(`${ONE}/cancel`, 'asker', OF)).toMatchObject({ status: 200 })
    expect(await waiting).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  })

  it('A wait of a caller that is revoked meanwhile gets no answer', async () => {
    const { ask, clock, sallyport } = approving()
    await ask(PATH, 'asker', ASK)
    const timers = clock.timers
    const rechecking = vi.spyOn(sallyport.endpoints, 'recheck')
    const waiting = ask(`${ONE}?sessionId=s1&waitMs=30000`, 'asker')
    while (clock.timers < timers + 2) await setImmediate()
    rechecking.mockReturnValue({ refused: 'invalid_token', detail: 'It was revoked.' })
    await sallyport.approvals.cancel({ ...OF, approvalId: 'refund-1' })
    expect(await waiting).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
  })

  it('An answer that is neither accept nor decline is refused', async () => {
    const { ask } = approving()
    await ask(PATH, 'asker', ASK)
    for (const answer of ['cancel', 'yes', true, null])
      expect(await ask(`${ONE}/answer`, 'manager', { ...OF, user: ADA, answer })).toMatchObject({
        ...{ status: 422, body: { code: 'validation_failed', errors: [{ pointer: '/answer' }] } },
      })
  })
})

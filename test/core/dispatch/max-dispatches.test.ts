import { describe, expect, it } from 'vitest'
import type { DispatchDeps } from '../../../src/core/dispatch/handle-dispatch.ts'
import { GRANT, testDeps } from '../../support/deps.ts'
import { ORDER, post, refused, stored } from './dispatching.ts'

const BY_MAIL = { ...ORDER, channel: 'email' }

/** Deps where each bearer token is a session token with that `maxDispatches`. */
function countedDeps(maxDispatches: number, more: Partial<DispatchDeps> = {}) {
  const verify = async (id: string) => ({
    id,
    tenant: 'default',
    sessionId: 's1',
    dispatch: { ...GRANT, maxDispatches },
  })
  return testDeps(undefined, { auth: { verify }, ...more })
}

const token = (id: string, more: Readonly<Record<string, string>> = {}) => ({ authorization: `Bearer ${id}`, ...more })

describe('maxDispatches', () => {
  it('A grant is spent after maxDispatches, and nothing more is stored', async () => {
    const deps = countedDeps(2)
    for (let at = 0; at < 2; at++) expect((await post(deps, BY_MAIL, token('a'))).status).toBe(202)
    expect(await post(deps, BY_MAIL, token('a'))).toMatchObject({
      status: 403,
      headers: { 'www-authenticate': 'Bearer realm="sallyport", error="insufficient_scope"' },
      body: {
        code: 'grant_spent',
        detail: 'The session token has dispatched as many events as it may. What was accepted stands.',
      },
    })
    expect(await stored(deps)).toHaveLength(2)
  })

  it('maxDispatches holds for concurrent posts', async () => {
    const deps = countedDeps(7)
    const answers = await Promise.all(Array.from({ length: 50 }, () => post(deps, BY_MAIL, token('a'))))
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(7)
    expect(answers.filter(({ status }) => status === 403)).toHaveLength(43)
    expect(await stored(deps)).toHaveLength(7)
  })

  it('maxDispatches is per token: another token of the session has its own', async () => {
    const deps = countedDeps(1)
    expect((await post(deps, BY_MAIL, token('a'))).status).toBe(202)
    expect((await post(deps, BY_MAIL, token('b'))).status).toBe(202)
    expect((await refused(deps, BY_MAIL, token('a'))).code).toBe('grant_spent')
    expect((await refused(deps, BY_MAIL, token('b'))).code).toBe('grant_spent')
  })

  it('A spent grant still replays a repeated key', async () => {
    const deps = countedDeps(1)
    const keyed = token('a', { 'idempotency-key': 'k1' })
    expect((await post(deps, BY_MAIL, keyed)).status).toBe(202)
    expect(await post(deps, BY_MAIL, keyed)).toMatchObject({ status: 202, body: { duplicate: true } })
    expect((await refused(deps, BY_MAIL, token('a', { 'idempotency-key': 'k2' }))).code).toBe('grant_spent')
  })

  it('Refused requests do not count towards maxDispatches', async () => {
    const deps = countedDeps(1)
    await refused(deps, { ...BY_MAIL, eventData: {} }, token('a'))
    await refused(deps, { ...BY_MAIL, recipient: 'joe@example.com' }, token('a'))
    await refused(deps, { ...BY_MAIL, channel: 'sms' }, token('a'))
    expect((await post(deps, BY_MAIL, token('a'))).status).toBe(202)
  })

  it('Stored dispatches without a sent delivery count towards maxDispatches', async () => {
    const deps = countedDeps(1, { policy: { decide: () => ({ verdict: 'skip', reason: 'opted_out' }) } })
    expect(await post(deps, BY_MAIL, token('a'))).toMatchObject({ status: 202, body: { status: 'skipped' } })
    expect((await refused(deps, BY_MAIL, token('a'))).code).toBe('grant_spent')
  })

  it.each([0, 1_001, 1.5, Number.NaN, '2', null])(
    'A verifier that gives a maxDispatches of %s is answered internal_error',
    async (max) => {
      expect((await refused(countedDeps(max as number), BY_MAIL, token('a'))).code).toBe('internal_error')
    },
  )
})

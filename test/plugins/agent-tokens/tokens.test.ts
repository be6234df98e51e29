import { decodeJwt } from 'jose'
import { describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../../src/auth/index.ts'
import type { SallyportError } from '../../../src/errors.ts'
import { tokenUseRecords } from '../../../src/plugins/agent-tokens/token-use-records.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { GRANT, type HostGiven, tokenHost } from './exchanging.ts'

const { secret, id: appId } = await generateAppSecret({ env: 'test' })
const host = (given?: HostGiven) => tokenHost(secret, given)
const jtiOf = (token: string): string => String(decodeJwt(token).jti)
const grants = { dispatch: GRANT }

describe('tokens.revoke', () => {
  it('A revoked token and its descendants are refused at once, and no others', async () => {
    const { issue, exchange, run, dispatch, sallyport } = host()
    const [root, other] = [await issue(grants), await issue(grants)]
    const child = await exchange(await exchange(root, { grants }), { grants })
    await sallyport.tokens.revoke({ jti: jtiOf(root) })
    for (const token of [root, child]) {
      expect(await run(token)).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
      expect((await dispatch(token)).status).toBe(401)
    }
    expect((await run(other)).status).toBe(201)
    expect((await run(secret, 'r2')).status).toBe(201)
  })

  it('A revoked token is answered 401, also for what it never allowed', async () => {
    const { issue, dispatch, sallyport } = host()
    const token = await issue()
    expect((await dispatch(token)).status).toBe(403)
    await sallyport.tokens.revoke({ jti: jtiOf(token) })
    expect((await dispatch(token)).status).toBe(401)
  })

  it('Revoking an exchanged token leaves its parent valid', async () => {
    const { issue, exchange, run, sallyport } = host()
    const root = await issue()
    const child = await exchange(root)
    await sallyport.tokens.revoke({ jti: jtiOf(child) })
    expect([(await run(child)).status, (await run(root)).status]).toEqual([401, 201])
  })

  it.each([
    ['session', { sessionId: 's1' }, { sessionId: 's2' }],
    ['user', { userId: 'ada' }, { userId: 'joe' }],
  ] as const)('Revoking by %s covers tokens issued before it, and none issued later', async (_, of, others) => {
    const { issue, exchange, post, clock, sallyport } = host()
    const before = await issue({}, { userId: 'ada' })
    const child = await exchange(before)
    const foreign = await issue({}, { userId: 'ada', ...others })
    await sallyport.tokens.revoke(of)
    clock.advance(1)
    const later = await issue({}, { userId: 'ada' })
    const status = async (token: string) => {
      const { sid, sub } = decodeJwt(token)
      return (await post('run', token, { sessionId: sid, run: { runId: `r-${sid}-${sub}` } })).status
    }
    expect([await status(before), await status(child)]).toEqual([401, 401])
    expect([await status(later), await status(await exchange(later))]).toEqual([201, 200])
    expect(await status(foreign)).toBe(201)
  })

  it('A token exchanged after the revocation of its parent is refused in every process', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const [one, two] = [host({ clock, options: { store } }), host({ clock, options: { store } })]
    const token = await one.issue()
    expect((await two.run(token)).status).toBe(201)
    await one.sallyport.tokens.revoke({ sessionId: 's1' })
    clock.advance(399)
    // The other process has not read it yet.
    const child = await two.exchange(token)
    clock.advance(601)
    for (const { run } of [one, two]) {
      expect((await run(child)).status).toBe(401)
      expect((await run(token)).status).toBe(401)
    }
  })

  it('A revocation reaches another process within a second', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const [one, two] = [host({ clock, options: { store } }), host({ clock, options: { store } })]
    const token = await one.issue()
    const child = await one.exchange(token)
    for (const ms of [0, 100, 300]) {
      clock.advance(ms)
      expect((await two.run(child)).status).toBeLessThan(300)
    }
    await one.sallyport.tokens.revoke({ jti: jtiOf(token) })
    clock.advance(1_000)
    expect((await two.run(child)).status).toBe(401)
  })

  it('The revocation of a principal without an end lasts for a year by jti, and for 25 hours by session', async () => {
    const HOUR = 3_600_000
    const session = { id: 'own', tenant: 'default', sessionId: 's1' }
    for (const [of, hours] of [
      [{ jti: 'own' }, 365 * 24],
      [{ sessionId: 's1' }, 25],
    ] as const) {
      const { run, clock, sallyport } = host({ options: { auth: { verify: async () => session } } })
      await sallyport.tokens.revoke(of)
      clock.advance(hours * HOUR - 1)
      expect((await run('any')).status).toBe(401)
      clock.advance(1)
      expect((await run('any')).status).toBe(201)
    }
  })

  it('A revocation is of one tenant', async () => {
    const { issue, run, sallyport } = host()
    const token = await issue({}, { tenant: 'acme' })
    await sallyport.tokens.revoke({ sessionId: 's1' })
    expect((await run(token)).status).toBe(201)
    await sallyport.tokens.revoke({ sessionId: 's1' }, { tenant: 'acme' })
    expect((await run(token)).status).toBe(401)
  })

  it('Session tokens are answered 503 when revocations cannot be read; applications are served', async () => {
    const store = memoryStore()
    const down = async (): Promise<never> => {
      throw new Error('down')
    }
    const { issue, run } = host({ options: { store: { ...store, listRevocations: down } } })
    expect(await run(await issue())).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
    expect((await run(secret)).status).toBe(201)
  })

  it.each<[unknown, string]>([
    [{}, 'takes one of jti, sessionId and userId'],
    [{ jti: 'a', sessionId: 's' }, 'takes one of jti, sessionId and userId'],
    [{ jti: '' }, 'jti'],
    [{ sessionId: 'a b' }, 'sessionId'],
    [{ userId: '' }, 'userId'],
    [{ userId: 'x'.repeat(201) }, 'userId'],
    [{ tokenId: 'a' }, 'tokenId'],
    [undefined, 'must be an object'],
  ])('tokens.revoke(%j) is refused', async (of, detail) => {
    const fault = await host()
      .sallyport.tokens.revoke(of as { jti: string })
      .catch((error: SallyportError) => error)
    expect(fault).toMatchObject({ code: 'option_invalid', message: expect.stringContaining(detail) })
  })
})

describe('tokens.uses', () => {
  it('Accepted and refused uses are listed, newest first', async () => {
    const { issue, post, exchange, dispatch, run, clock, sallyport } = host()
    const token = await issue({ dispatch: { ...GRANT, maxDispatches: 1 } }, { userId: 'ada' })
    const accepted = await dispatch(token)
    clock.advance(1_000)
    const spent = await dispatch(token)
    clock.advance(1_000)
    await run(token, 'r7')
    clock.advance(1_000)
    await post('run', token, { sessionId: 's1', runs: [] })
    clock.advance(1_000)
    const child = await exchange(token)
    clock.advance(1_000)
    await dispatch(child)
    await run(secret)
    const common = { jti: jtiOf(token), sessionId: 's1', times: 1 }
    const { items } = await sallyport.tokens.uses()
    expect(items.map(({ time, ...use }) => use)).toEqual([
      { ...common, jti: jtiOf(child), operation: 'dispatch', outcome: 'refused', code: 'insufficient_scope' },
      { ...common, operation: 'exchange', outcome: 'accepted', id: jtiOf(child) },
      {
        ...{ ...common, operation: 'session_run', outcome: 'refused', code: 'validation_failed' },
        id: expect.stringMatching(/^req_/),
      },
      { ...common, operation: 'session_run', outcome: 'accepted', id: 'r7' },
      { ...common, operation: 'dispatch', outcome: 'refused', code: 'grant_spent', id: spent.body.requestId },
      { ...common, operation: 'dispatch', outcome: 'accepted', id: accepted.body.dispatchId },
    ])
    expect(items.map(({ time }) => Date.parse(time) - clock.now())).toEqual([0, -1_000, -2_000, -3_000, -4_000, -5_000])
    const ofChild = await sallyport.tokens.uses({ jti: jtiOf(child) })
    expect(ofChild.items).toEqual(items.slice(0, 1))
    expect((await sallyport.tokens.uses({ outcome: 'accepted' })).items).toHaveLength(3)
    expect((await sallyport.tokens.uses({ sessionId: 's2' })).items).toEqual([])
    expect((await sallyport.tokens.uses({ tenant: 'acme' })).items).toEqual([])
  })

  it('Uses of a revoked token, and uses over a rate limit, are listed as refused', async () => {
    const state = { allowed: true, limit: 1, remaining: 0, windowMs: 1_000, resetMs: 1_000 }
    const { issue, run, sallyport } = host({ options: { rateLimiter: { consume: async () => ({ ...state }) } } })
    const token = await issue()
    state.allowed = false
    await run(token)
    await sallyport.tokens.revoke({ jti: jtiOf(token) })
    await run(token)
    const { items } = await sallyport.tokens.uses({ outcome: 'refused' })
    expect(items.map(({ code }) => code).toSorted()).toEqual(['invalid_token', 'rate_limited'])
  })

  it('An exchange that is refused before its body is listed as an exchange', async () => {
    const { issue, post, sallyport } = host()
    const token = await issue()
    await sallyport.tokens.revoke({ jti: jtiOf(token) })
    await post('exchange', token, { grants: {} })
    const { items } = await sallyport.tokens.uses()
    expect(items).toMatchObject([{ operation: 'exchange', outcome: 'refused', code: 'invalid_token' }])
  })

  it('A page continues with its cursor', async () => {
    const { issue, run, clock, sallyport } = host()
    const token = await issue()
    for (const runId of ['r1', 'r2', 'r3']) {
      await run(token, runId)
      clock.advance(1_000)
    }
    const first = await sallyport.tokens.uses({ limit: 2 })
    const { nextCursor } = first
    const second = await sallyport.tokens.uses({ limit: 2, ...(nextCursor && { cursor: nextCursor }) })
    expect([first, second].map(({ items }) => items.map(({ id }) => id))).toEqual([['r3', 'r2'], ['r1']])
    expect(second.nextCursor).toBeUndefined()
  })

  it('stop() stores the uses that are not stored yet', async () => {
    const store = memoryStore()
    const { issue, run, sallyport } = host({ options: { store } })
    await run(await issue())
    expect((await tokenUseRecords(store).list({ tenant: 'default', limit: 5 })).items).toEqual([])
    await sallyport.stop()
    expect((await tokenUseRecords(store).list({ tenant: 'default', limit: 5 })).items).toHaveLength(1)
  })

  it('An id generator that throws for uses fails no request', async () => {
    const ids = {
      next(prefix: string) {
        if (prefix === 'use') throw new Error('down')
        return `${prefix}_1`
      },
    }
    const { issue, run, sallyport } = host({ options: { ids } })
    expect((await run(await issue())).status).toBe(201)
    expect((await sallyport.tokens.uses()).items).toHaveLength(1)
  })

  it('tokens.prune removes uses of that age', async () => {
    const { issue, run, clock, sallyport } = host()
    await run(await issue())
    await sallyport.tokens.uses()
    clock.advance(60_000)
    expect(await sallyport.tokens.prune({ olderThan: 60_000 })).toEqual({ pruned: 0 })
    expect(await sallyport.tokens.prune({ olderThan: 59_999, tenant: 'acme' })).toEqual({ pruned: 0 })
    expect(await sallyport.tokens.prune({ olderThan: 59_999 })).toEqual({ pruned: 1 })
    expect((await sallyport.tokens.uses()).items).toEqual([])
  })

  it.each([{ outcome: 'lost' }, { jti: '' }, { limit: 0 }, { cursor: 'x' }, { token: 'a' }])(
    'tokens.uses(%j) is refused',
    async (options) => {
      const uses = host().sallyport.tokens.uses(options as object)
      await expect(uses).rejects.toMatchObject({ code: 'option_invalid' })
    },
  )
})

describe('the author of a dispatch', () => {
  it('A dispatch records who made it; answers do not tell it', async () => {
    const { issue, exchange, dispatch, sallyport } = host()
    const root = await issue(grants)
    const child = await exchange(root, { grants })
    const by: unknown[] = []
    for (const token of [secret, root, child]) {
      const { body } = await dispatch(token)
      expect(body).not.toHaveProperty('by')
      by.push((await sallyport.dispatches.get(body.dispatchId))?.by)
    }
    expect(by).toEqual([appId, jtiOf(root), jtiOf(child)])
    const { body } = await sallyport.dispatch({ eventType: 'e', recipient: 'jane@example.com' })
    expect(body).not.toHaveProperty('by')
    expect((await sallyport.dispatches.list()).items.map((dispatch) => dispatch.by)).toContain('host')
  })
})

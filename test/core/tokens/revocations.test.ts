import { describe, expect, it } from 'vitest'
import { revocationList } from '../../../src/core/tokens/revocations.ts'
import type { Principal } from '../../../src/model/principal.ts'
import type { NewRevocation, RevocationStore } from '../../../src/ports/revocation-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'

const HOUR = 3_600_000

/** A list over a memory store that counts its reads, and may fail or wait. */
function listed() {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const state = { reads: 0, fails: false, gate: Promise.resolve() }
  const counting: Pick<RevocationStore, 'listRevocations'> = {
    async listRevocations(after, limit) {
      state.reads++
      const page = await store.listRevocations(after, limit)
      await state.gate
      if (state.fails) throw new Error('down')
      return page
    },
  }
  const revoke = (given: Partial<NewRevocation>) =>
    store.revokeTokens({ tenant: 't', by: 'jti', value: 'x', revokedAt: clock.now(), keptForMs: HOUR, ...given })
  return { clock, store, state, revoke, list: revocationList(counting, clock) }
}

const token = (more: Partial<Principal> = {}): Principal => ({ id: 'token', tenant: 't', sessionId: 's', ...more })
const REVOKED = { refused: 'invalid_token' }

describe('the check of revocations', () => {
  it('Revoking a token refuses it and every token that was exchanged from it, and no other', async () => {
    const { list, revoke } = listed()
    await revoke({ value: 'parent' })
    for (const refused of [
      token({ id: 'parent' }),
      token({ parents: [{ id: 'parent' }] }),
      token({ parents: [{ id: 'a' }, { id: 'parent' }] }),
    ])
      expect(await list.check(refused)).toMatchObject(REVOKED)
    for (const valid of [
      token(),
      token({ parents: [{ id: 'a' }] }),
      token({ id: 'parent', tenant: 'other' }),
      token({ sessionId: 'parent' }),
      token({ userId: 'parent' }),
    ])
      expect(await list.check(valid)).toBeUndefined()
  })

  it.each([
    ['sessionId', { sessionId: 'x' }],
    ['userId', { userId: 'x' }],
  ] as const)('Revoking by %s refuses tokens issued until then, and none issued later', async (by, of) => {
    const { list, revoke, clock } = listed()
    const at = clock.now()
    await revoke({ by })
    for (const issuedAt of [0, at - 1, at]) expect(await list.check(token({ ...of, issuedAt }))).toMatchObject(REVOKED)
    expect(await list.check(token(of))).toMatchObject(REVOKED)
    expect(await list.check(token({ ...of, issuedAt: at + 1 }))).toBeUndefined()
    expect(await list.check(token({ issuedAt: at }))).toBeUndefined()
    expect(await list.check(token({ ...of, tenant: 'other', issuedAt: at }))).toBeUndefined()
  })

  it('The latest of several revocations counts, in whatever order they come', async () => {
    for (const [first, second] of [
      [1_000, 2_000],
      [2_000, 1_000],
    ] as const) {
      const { list, revoke } = listed()
      await revoke({ by: 'sessionId', value: 's', revokedAt: first, keptForMs: 10 * HOUR })
      await revoke({ by: 'sessionId', value: 's', revokedAt: second, keptForMs: HOUR })
      expect(await list.check(token({ issuedAt: 2_000 }))).toMatchObject(REVOKED)
      expect(await list.check(token({ issuedAt: 2_001 }))).toBeUndefined()
    }
  })

  it('An application is not checked, and causes no read', () => {
    const { list, state } = listed()
    expect(list.check({ id: 'app', tenant: 't' })).toBeUndefined()
    expect(state.reads).toBe(0)
  })

  it('A check is a look in memory while the list is fresh, and reads it again in the background', async () => {
    const { list, state, clock, revoke } = listed()
    await list.check(token())
    expect(state.reads).toBe(1)
    await revoke({ value: 'token' })
    clock.advance(399)
    expect(list.check(token())).toBeUndefined()
    expect(state.reads).toBe(1)
    clock.advance(1)
    expect(list.check(token())).toBeUndefined()
    expect(state.reads).toBe(2)
    await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    expect(list.check(token())).toMatchObject(REVOKED)
    expect(state.reads).toBe(2)
  })

  it('A check waits for a read when the last one began 900 ms ago, so that a revocation takes effect within a second', async () => {
    const { list, clock, revoke } = listed()
    await list.check(token())
    await revoke({ value: 'token' })
    clock.advance(899)
    expect(list.check(token())).toBeUndefined()
    const other = listed()
    await other.list.check(token())
    await other.revoke({ value: 'token' })
    other.clock.advance(900)
    const check = other.list.check(token())
    expect(check).toBeInstanceOf(Promise)
    expect(await check).toMatchObject(REVOKED)
  })

  it('Concurrent checks share one read', async () => {
    const { list, state } = listed()
    await Promise.all(Array.from({ length: 50 }, () => list.check(token())))
    expect(state.reads).toBe(1)
  })

  it('A check does not rely on a read that began too long ago', async () => {
    const { list, state, clock, revoke } = listed()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    const first = list.check(token())
    clock.advance(4_999)
    const second = list.check(token())
    state.gate = Promise.resolve()
    open()
    await revoke({ value: 'token' })
    expect(await first).toBeUndefined()
    expect(await second).toMatchObject(REVOKED)
    expect(state.reads).toBe(2)
  })

  it('A check does not fail with a read that began too long ago', async () => {
    const { list, state, clock } = listed()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    const first = list.check(token())
    clock.advance(900)
    const second = list.check(token())
    state.fails = true
    open()
    expect(await first).toMatchObject({ refused: 'store_unavailable' })
    state.fails = false
    expect(await second).toBeUndefined()
    expect(state.reads).toBe(2)
  })

  it('A read that does not answer is given up after five seconds, and the next check reads again', async () => {
    const { list, state, clock, revoke } = listed()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    const first = list.check(token())
    clock.advance(5_000)
    expect(await first).toMatchObject({ refused: 'store_unavailable' })
    state.gate = Promise.resolve()
    await revoke({ value: 'token' })
    expect(await list.check(token())).toMatchObject(REVOKED)
    open()
    await new Promise((resolve) => setImmediate(resolve))
    expect(list.check(token())).toMatchObject(REVOKED)
    expect([state.reads, clock.timers]).toEqual([2, 0])
  })

  it('Session tokens are answered 503 once the list is too old and the store fails, until it is read again', async () => {
    const { list, state, clock } = listed()
    await list.check(token())
    state.fails = true
    clock.advance(500)
    expect(list.check(token())).toBeUndefined()
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(400)
    expect(await list.check(token())).toMatchObject({
      refused: 'store_unavailable',
      headers: { 'retry-after': '1' },
    })
    expect(list.check({ id: 'app', tenant: 't' })).toBeUndefined()
    state.fails = false
    expect(await list.check(token())).toBeUndefined()
  })

  it('The list fails closed before its first read', async () => {
    const { list, state } = listed()
    state.fails = true
    expect(await list.check(token())).toMatchObject({ refused: 'store_unavailable' })
  })

  it('A clock that was set back makes the next check wait for a read', async () => {
    const clock = { at: 10_000, now: () => clock.at, after: () => () => {} }
    let reads = 0
    const store = {
      async listRevocations() {
        reads++
        return []
      },
    }
    const list = revocationList(store, clock)
    await list.check(token())
    clock.at = 5_000
    await list.check(token())
    expect(reads).toBe(2)
  })

  it('A revocation is forgotten when it expires', async () => {
    const { list, clock, revoke } = listed()
    await revoke({ value: 'token', keptForMs: HOUR })
    expect(await list.check(token())).toMatchObject(REVOKED)
    clock.advance(HOUR - 1)
    expect(await list.check(token())).toMatchObject(REVOKED)
    clock.advance(1)
    expect(await list.check(token())).toBeUndefined()
    expect(await list.check(token())).toBeUndefined()
  })

  it('All of many revocations are read, and later only new ones', async () => {
    const { list, state, revoke } = listed()
    for (let at = 0; at < 1_200; at++) await revoke({ value: `v${at}` })
    for (const at of [0, 499, 500, 1_199]) expect(await list.check(token({ id: `v${at}` }))).toMatchObject(REVOKED)
    expect(state.reads).toBe(3)
    await revoke({ value: 'last' })
    await list.refresh()
    expect(state.reads).toBe(4)
    expect(await list.check(token({ id: 'last' }))).toMatchObject(REVOKED)
  })

  it('A refresh reads what was stored after an earlier read began', async () => {
    const { list, state, revoke } = listed()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    const check = list.check(token())
    state.gate = Promise.resolve()
    await revoke({ value: 'token' })
    const refreshed = list.refresh()
    open()
    await Promise.all([check, refreshed])
    expect(state.reads).toBe(2)
    expect(list.check(token())).toMatchObject(REVOKED)
  })
})

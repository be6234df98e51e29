import { describe, expect, it } from 'vitest'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import { storeOf } from '../../src/storage/engine/engine-store.ts'
import type { Kind } from '../../src/storage/engine/kinds.ts'
import { openPostgresql } from './databases.ts'
import { afterRead } from './engine/records-between.ts'
import { storeEach } from './store-each.ts'
import { acceptance, delivery, digested } from './storing.ts'

describe('writes of another process between read and write', () => {
  const own = storeEach(openPostgresql)

  /** A store during whose call another one interferes, after a read of this kind. */
  function interrupted(kind: Kind, happen: () => Promise<unknown>): DispatchStore {
    return storeOf(afterRead(own.records(), kind, happen))
  }

  const keyedFor = (ttlMs: number) => ({ idempotency: { key: 'k', fingerprint: 'f', ttlMs } })
  const nothingIn = { limits: { none: 1 }, leaseMs: 1_000, busy: [] }

  it('A key that expires and is used again between read and write is accepted once', async () => {
    await own.other.accept(acceptance('old', {}, keyedFor(30)))
    own.clock.advance(31)
    const slow = interrupted('idempotency_keys', async () => {
      await own.other.claim(nothingIn)
      expect((await own.other.accept(acceptance('new', {}, keyedFor(1_000)))).outcome).toBe('accepted')
    })
    expect((await slow.accept(acceptance('late', {}, keyedFor(1_000)))).outcome).toBe('replayed')
    expect(await own.other.findDispatch('default', 'late')).toBeUndefined()
  })

  it('A limit that expires and is counted again between read and write holds', async () => {
    const limited = (id: string, windowMs: number) =>
      acceptance(id, { deliveries: [delivery(`${id}-a`, { limits: [{ key: 'l', max: 1, windowMs }] })] })
    await own.other.accept(limited('old', 60))
    own.clock.advance(61)
    const slow = interrupted('counters', async () => {
      await own.other.claim(nothingIn)
      await own.other.accept(limited('new', 60_000))
    })
    await slow.accept(limited('late', 60_000))
    const late = await own.other.findDispatch('default', 'late')
    expect(late?.deliveries).toMatchObject([{ status: 'skipped', reason: 'throttled' }])
  })

  it('A digest that loses both events concurrently is not sent', async () => {
    for (const id of ['B', 'A']) await own.other.accept(acceptance(id, { deliveries: [digested(`${id}-a`)] }))
    const slow = interrupted('members', () => own.other.cancel('default', 'B'))
    await slow.cancel('default', 'A')
    for (const id of ['A', 'B'])
      expect((await own.other.findDispatch('default', id))?.deliveries).toMatchObject([{ status: 'cancelled' }])
    own.clock.advance(2_000)
    expect((await own.other.claim({ ...nothingIn, limits: { a: 9 } })).deliveries).toEqual([])
  })

  it('A write between read and removal does not end the removal early', async () => {
    for (const at of [1, 2, 3, 4, 5, 6])
      await own.other.accept(acceptance(`${at}`, { deliveries: [delivery(`${at}-a`, { status: 'failed' })] }))
    own.clock.advance(10)
    const removal = { acceptedForMs: 1, limit: 3 }
    const slow = interrupted('dispatches', () => own.other.removeDispatches(removal))
    expect(await slow.removeDispatches(removal)).toBe(3)
    expect((await own.other.listDispatches({ tenant: 'default', limit: 9 })).items).toEqual([])
  })
})

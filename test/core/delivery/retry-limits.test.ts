import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { acceptanceOf } from './acceptance.ts'
import type { Accept } from './operations.ts'

const LIMIT = { key: 'one a second', max: 1, windowMs: 1_000 }
const ACCEPT: Accept = {
  ...{ do: 'accept', tenant: 't1', route: 'first', recipient: 'r1', sessionId: undefined, delayMs: 0 },
  ...{ expiresInMs: 5_000, digestMax: undefined, key: undefined },
  wanted: [
    { status: 'queued', limits: [], receiver: undefined },
    { status: 'queued', limits: [LIMIT], receiver: undefined },
  ],
}

test('A retry of an expired fallback is throttled when its limits are spent', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  await store.accept(acceptanceOf(ACCEPT, 'd1'))
  clock.advance(5_000)
  await store.claim({ leaseMs: 1_000, limits: { a: 1 }, busy: [] })
  const other: Accept = { ...ACCEPT, wanted: [{ status: 'queued', limits: [LIMIT], receiver: undefined }] }
  await store.accept(acceptanceOf(other, 'd2'))
  const retried = await store.retry('t1', 'd1', { channel: 'b', expiresInMs: 5_000 })
  expect(retried?.dispatch.deliveries[1]).toMatchObject({ status: 'skipped', reason: 'throttled' })
})

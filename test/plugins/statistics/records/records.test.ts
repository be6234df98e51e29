import { expect, it } from 'vitest'
import { fakeClock } from '../../../../src/contract-tests/fake-clock.ts'
import { heartbeatRecords } from '../../../../src/plugins/statistics/heartbeat-records.ts'
import { statisticsRecords } from '../../../../src/plugins/statistics/statistics-records.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { testRecords } from '../../../support/record-trials.ts'
import { findRecords } from '../../../support/records.ts'
import { expiryCases } from './expiry.ts'
import { heartbeatCases } from './heartbeats.ts'
import { listCases } from './lists.ts'
import { replacementCases } from './replacement.ts'

testRecords('statistics and heartbeats', [...expiryCases, ...heartbeatCases, ...listCases, ...replacementCases])

it('Records of all versions have one form, so that processes of two versions share them', async () => {
  const now = Date.UTC(2027, 0, 15)
  const store = memoryStore({ clock: fakeClock(now) })
  const bucket = { tenant: 't', step: 'minute', startsAt: 60_000, counterId: 'c1' } as const
  await statisticsRecords(store).put([{ ...bucket, revision: 3, counts: { sent: 1 }, keptForMs: 1_000 }])
  await heartbeatRecords(store).record({ workerId: 'w', aliveForMs: 500 })
  const key = '6:minute0000000000060000c1'
  expect(await findRecords(store, { kind: 'statistics', tenant: 't' }, key)).toMatchObject([
    { expiresAt: now + 1_000, body: { revision: 3, counts: { sent: 1 } } },
  ])
  expect(await findRecords(store, { kind: 'heartbeats', tenant: '' }, 'w')).toMatchObject([
    { expiresAt: now + 500, body: {} },
  ])
})

it('The first heartbeat of a worker removes up to 20 dead ones, and later ones remove none', async () => {
  const clock = fakeClock()
  const store = memoryStore({ clock })
  const workers = heartbeatRecords(store)
  const dead = Array.from({ length: 45 }, (_, at) => `dead${at}`)
  for (const workerId of dead) await workers.record({ workerId, aliveForMs: 500 })
  clock.advance(1_000)
  const left = async () => (await findRecords(store, { kind: 'heartbeats', tenant: '' }, ...dead)).length
  for (const expected of [25, 25]) {
    await workers.record({ workerId: 'new', aliveForMs: 500 })
    expect(await left()).toBe(expected)
  }
})

it('A replaced row keeps its expiry, so that its index entry is written once', async () => {
  const clock = fakeClock(1_000)
  const store = memoryStore({ clock })
  const bucket = { tenant: 't', step: 'minute', startsAt: 60_000, counterId: 'c1', keptForMs: 1_000 } as const
  for (const revision of [1, 2]) {
    await statisticsRecords(store).put([{ ...bucket, revision, counts: {} }])
    clock.advance(10)
  }
  const [row] = await findRecords(store, { kind: 'statistics', tenant: 't' }, '6:minute0000000000060000c1')
  expect([row?.expiresAt, row?.body]).toEqual([2_000, { revision: 2, counts: {} }])
})

import { equal } from '../../../../src/contract-tests/assertions.ts'
import { ODD_NAMES } from '../../../../src/contract-tests/odd-names.ts'
import type { RecordCase } from '../../../support/record-trials.ts'
import { HOUR_MS, MARGIN_MS, MINUTE_MS, statisticsCases } from './harness.ts'

export const heartbeatCases: readonly RecordCase[] = [
  ...statisticsCases([], {
    'no worker is alive at first': async (t) => {
      equal(await t.alive(), 0)
    },
    'a worker is alive until the time of its heartbeat': async (t) => {
      await t.beat('a', HOUR_MS)
      equal(await t.alive(), 1)
      await t.advance(HOUR_MS - MARGIN_MS)
      equal(await t.alive(), 1)
      await t.advance(MARGIN_MS)
      equal(await t.alive(), 0)
    },
    'a heartbeat replaces the last one of its worker': async (t) => {
      await t.beat('a', HOUR_MS)
      await t.advance(HOUR_MS - MARGIN_MS)
      await t.beat('a', HOUR_MS)
      await t.advance(HOUR_MS - MARGIN_MS)
      equal(await t.alive(), 1)
      for (const aliveForMs of [HOUR_MS, MINUTE_MS]) await t.beat('a', aliveForMs)
      await t.advance(MINUTE_MS)
      equal(await t.alive(), 0)
    },
    'a worker is counted once': async (t) => {
      for (let times = 0; times < 3; times++) await t.beat('a', HOUR_MS)
      await t.beat('b', HOUR_MS)
      equal(await t.alive(), 2)
    },
    'a stopped worker is not counted': async (t) => {
      await t.beat('a', HOUR_MS)
      await t.beat('b', HOUR_MS)
      await t.beat('a', 0)
      equal(await t.alive(), 1)
      await t.beat('never-started', 0)
      equal(await t.alive(), 1)
      await t.beat('a', HOUR_MS)
      equal(await t.alive(), 2)
    },
    'dead workers are not counted beside those that are alive': async (t) => {
      for (const workerId of ['a', 'b', 'c']) await t.beat(workerId, MINUTE_MS)
      await t.beat('d', HOUR_MS)
      equal(await t.alive(), 4)
      await t.advance(MINUTE_MS)
      equal(await t.alive(), 1)
      await t.beat('e', HOUR_MS)
      equal(await t.alive(), 2)
      await t.beat('b', HOUR_MS)
      equal(await t.alive(), 3)
    },
    'a hundred workers are counted': async (t) => {
      for (let at = 0; at < 100; at++) await t.beat(`w${at}`, HOUR_MS)
      equal(await t.alive(), 100)
      for (let at = 0; at < 50; at++) await t.beat(`w${at}`, 0)
      equal(await t.alive(), 50)
    },
    'odd ids of workers are never confused': async (t) => {
      for (const workerId of ODD_NAMES) await t.beat(workerId, HOUR_MS)
      for (const workerId of ODD_NAMES) await t.beat(workerId, HOUR_MS)
      equal(await t.alive(), ODD_NAMES.length)
      for (const [at, workerId] of ODD_NAMES.entries()) {
        await t.beat(workerId, 0)
        equal(await t.alive(), ODD_NAMES.length - at - 1)
      }
    },
    'concurrent heartbeats of several workers are all counted': async (t) => {
      for (const workerId of ['dead1', 'dead2']) await t.beat(workerId, MINUTE_MS)
      await t.advance(MINUTE_MS)
      await Promise.all(
        Array.from({ length: 12 }, (_, at) => t.beat(`w${at % 6}`, HOUR_MS, at % 2 === 0 ? t.store : t.other)),
      )
      equal(await t.alive(), 6)
    },
    'heartbeats and rows do not disturb each other': async (t) => {
      await t.beat('c', HOUR_MS)
      await t.put({ tenant: 'workers', counterId: 'c' })
      await t.beat('c', 0)
      equal([await t.alive(), await t.ids({ tenant: 'workers' })], [0, ['c']])
    },
  }),
  ...statisticsCases(['durable'], {
    'heartbeats survive reopening': async (t) => {
      await t.beat('a', HOUR_MS)
      equal(await (await t.reopen()).alive(), 1)
    },
  }),
]

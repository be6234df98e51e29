import { describe, expect, it } from 'vitest'
import type { Measurement } from '../../../src/model/measurement.ts'
import { KEPT_MS, statisticsCounter } from '../../../src/plugins/statistics/counter.ts'
import {
  type NewStatisticsRow,
  type StatisticsRow,
  type StatisticsStep,
  statisticsRecords,
} from '../../../src/plugins/statistics/statistics-records.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { reportTo } from '../../support/plugin-core.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The start of an hour. */
const START = Date.UTC(2026, 10, 21, 8)

function counting(start = START) {
  const clock = fakeClock(start)
  const time = { back: 0 }
  const now = () => clock.now() - time.back
  const logger = recordingLogger()
  const errors: unknown[] = []
  const records = statisticsRecords(memoryStore({ clock: { now } }))
  const calls: (readonly NewStatisticsRow[])[] = []
  const state = { fails: false, losesAnswer: false, gate: Promise.resolve() }
  const counter = statisticsCounter({
    clock: { now, after: clock.after },
    logger,
    ids: countingIds(),
    report: reportTo({
      logger,
      clock,
      hooks: { onError: (error, { operation }) => void errors.push([operation, error]) },
    }),
    records: {
      async put(rows) {
        calls.push(rows)
        await state.gate
        if (state.fails) throw new Error('down')
        await records.put(rows)
        if (state.losesAnswer) throw new Error('the connection was lost')
      },
    },
  })
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  const stored = async (tenant = 't', step: StatisticsStep = 'minute'): Promise<readonly StatisticsRow[]> => {
    const query = { tenant, step, since: 0, until: Number.MAX_SAFE_INTEGER, limit: 1_000 }
    return (await records.list(query)).items
  }
  const accept = (tenant = 't'): void => counter.measure({ of: 'accepted', tenant, eventType: 'e' })
  return { records, clock, time, logger, errors, calls, state, counter, settled, stored, accept }
}

const sent: Measurement = { of: 'delivery', tenant: 't', eventType: 'e', channel: 'a', result: 'sent', latencyMs: 20 }

const acceptedIn = (rows: readonly StatisticsRow[]): number =>
  rows.reduce((sum, { counts }) => sum + Number(counts.accepted), 0)

describe('statisticsCounter', () => {
  it('Measurements are counted by tenant, minute and hour', async () => {
    const { counter, clock, stored, accept } = counting()
    accept()
    counter.measure(sent)
    accept('other')
    clock.advance(MINUTE)
    accept()
    clock.advance(HOUR)
    accept()
    await counter.flush()
    const shown = (rows: readonly StatisticsRow[]) =>
      rows.map(({ startsAt, counts }) => [startsAt - START, counts.accepted, counts.sent])
    expect(shown(await stored())).toEqual([
      [0, 1, 1],
      [MINUTE, 1, 0],
      [HOUR + MINUTE, 1, 0],
    ])
    expect(shown(await stored('t', 'hour'))).toEqual([
      [0, 2, 1],
      [HOUR, 1, 0],
    ])
    expect(shown(await stored('t', 'day'))).toEqual([[START - (START % DAY) - START, 3, 1]])
    expect(shown(await stored('other'))).toEqual([[0, 1, 0]])
  })

  it('Counts are stored five seconds after the first measurement, then at most every five seconds', async () => {
    const { calls, clock, accept, settled } = counting()
    accept()
    clock.advance(4_999)
    accept()
    expect(calls).toHaveLength(0)
    clock.advance(1)
    await settled()
    expect(calls).toHaveLength(1)
    accept()
    clock.advance(4_999)
    await settled()
    expect(calls).toHaveLength(1)
    clock.advance(1)
    await settled()
    expect(calls).toHaveLength(2)
    expect(calls.flat().map(({ step, keptForMs, revision }) => [step, keptForMs, revision])).toEqual([
      ['minute', KEPT_MS.minute, 1],
      ['hour', KEPT_MS.hour, 1],
      ['day', KEPT_MS.day, 1],
      ['minute', KEPT_MS.minute, 2],
      ['hour', KEPT_MS.hour, 2],
      ['day', KEPT_MS.day, 2],
    ])
    clock.advance(HOUR)
    await settled()
    expect([calls.length, clock.timers]).toEqual([2, 0])
  })

  it('A measurement during a write is stored by the next one', async () => {
    const { calls, clock, state, accept, settled, stored, counter } = counting()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    accept()
    clock.advance(5_000)
    accept()
    open()
    await settled()
    expect([calls.length, acceptedIn(await stored()), counter.hasCounts()]).toEqual([1, 1, true])
    clock.advance(5_000)
    await settled()
    expect([calls.length, acceptedIn(await stored()), counter.hasCounts()]).toEqual([2, 2, false])
  })

  it('A measurement between two parts of a write is stored exactly once', async () => {
    const { calls, clock, state, accept, settled, stored, counter } = counting()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    for (let at = 0; at < 101; at++) accept(`t${at}`)
    clock.advance(5_000)
    accept('t100')
    open()
    await settled()
    clock.advance(5_000)
    await settled()
    expect([calls.length, acceptedIn(await stored('t100')), counter.hasCounts()]).toEqual([4, 2, false])
  })

  it('Two flushes at once store counts once', async () => {
    const { calls, counter, accept, stored } = counting()
    accept()
    await Promise.all([counter.flush(), counter.flush(), counter.flush()])
    expect([calls.length, acceptedIn(await stored())]).toEqual([1, 1])
  })

  it('Counts of many tenants are stored a hundred rows at a time', async () => {
    const { calls, counter, accept } = counting()
    for (let at = 0; at < 101; at++) accept(`t${at}`)
    await counter.flush()
    expect(calls.map((rows) => rows.length)).toEqual([100, 100, 100, 3])
  })

  it('A failing store keeps the counts, is logged and reported, and is tried again', async () => {
    const { calls, clock, state, logger, errors, accept, settled, stored, counter } = counting()
    state.fails = true
    accept()
    clock.advance(5_000)
    await settled()
    expect(logger.lines).toMatchObject([
      { level: 'error', event: 'statistics.write_failed', fields: { cause: 'Error' } },
    ])
    expect(errors).toEqual([['store', new Error('down')]])
    expect([counter.hasCounts(), await stored()]).toEqual([true, []])
    accept()
    state.fails = false
    clock.advance(5_000)
    await settled()
    expect([calls.length, acceptedIn(await stored()), counter.hasCounts()]).toEqual([2, 2, false])
  })

  it('A write whose answer was lost is repeated, and counts once', async () => {
    const { calls, state, counter, accept, stored } = counting()
    state.losesAnswer = true
    accept()
    await counter.flush()
    expect([counter.hasCounts(), acceptedIn(await stored())]).toEqual([true, 1])
    state.losesAnswer = false
    await counter.flush()
    expect([calls.length, counter.hasCounts(), acceptedIn(await stored())]).toEqual([2, false, 1])
    expect(acceptedIn(await stored('t', 'hour'))).toBe(1)
  })

  it('A write that arrives late does not replace later counts', async () => {
    const { calls, counter, accept, stored, records } = counting()
    accept()
    await counter.flush()
    accept()
    await counter.flush()
    await records.put(calls[0] ?? [])
    expect([acceptedIn(calls[0] ?? []), acceptedIn(await stored()), acceptedIn(await stored('t', 'hour'))]).toEqual([
      ...[3, 2, 2],
    ])
  })

  it('A clock that is set back loses no counts', async () => {
    const { clock, time, counter, accept, stored } = counting()
    accept()
    await counter.flush()
    clock.advance(2 * HOUR)
    accept()
    await counter.flush()
    time.back = 2 * HOUR
    accept()
    await counter.flush()
    time.back = 0
    accept()
    await counter.flush()
    expect([acceptedIn(await stored()), acceptedIn(await stored('t', 'hour'))]).toEqual([4, 4])
    const starts = (await stored()).map(({ startsAt }) => startsAt - START)
    expect(starts).toEqual([0, 0, 2 * HOUR, 2 * HOUR])
  })

  it('What more than ten thousand tenants do is dropped and logged, until others are idle', async () => {
    const { clock, logger, counter, accept, stored } = counting()
    for (let at = 0; at < 10_000; at++) accept(`t${at}`)
    for (let times = 0; times < 3; times++) accept('late')
    accept('t0')
    await counter.flush()
    expect(logger.lines).toEqual([{ level: 'warn', event: 'statistics.dropped', fields: { measurements: 3 } }])
    expect([await stored('late'), acceptedIn(await stored('t0')), acceptedIn(await stored('t9999'))]).toEqual([
      [],
      2,
      1,
    ])
    clock.advance(MINUTE)
    accept('late')
    await counter.flush()
    accept('late')
    await counter.flush()
    expect(acceptedIn(await stored('late'))).toBe(1)
    expect(logger.lines).toHaveLength(2)
  })

  it('While the store fails, the counts in memory are limited', async () => {
    const { clock, state, logger, counter, accept } = counting()
    state.fails = true
    for (let minute = 0; minute < 6; minute++) {
      for (let at = 0; at < 8_000; at++) accept(`t${at}`)
      await counter.flush()
      clock.advance(MINUTE)
    }
    const dropped = logger.lines.filter(({ event }) => event === 'statistics.dropped')
    expect(dropped.map(({ fields }) => fields.measurements)).toEqual([8_000, 8_000, 8_000])
    expect(counter.unstored('t0', 'minute')).toHaveLength(3)
    state.fails = false
    await counter.flush()
    expect(counter.hasCounts()).toBe(false)
    accept('t0')
    expect(counter.unstored('t0', 'minute')).toHaveLength(1)
  })

  it('Rows that are not stored are readable, as copies, until they are', async () => {
    const { state, counter, accept, stored } = counting()
    expect(counter.unstored('t', 'minute')).toEqual([])
    accept()
    counter.measure(sent)
    const [row] = counter.unstored('t', 'minute')
    expect(row).toMatchObject({ tenant: 't', step: 'minute', startsAt: START, revision: 1 })
    expect(row?.counts).toMatchObject({ accepted: 1, sent: 1, latencies: { '20ms': 1 } })
    expect(counter.unstored('t', 'hour')).toHaveLength(1)
    expect(counter.unstored('other', 'minute')).toEqual([])
    accept()
    expect(row?.counts).toMatchObject({ accepted: 1 })
    state.fails = true
    await counter.flush()
    expect(counter.unstored('t', 'minute')).toMatchObject([{ revision: 2 }])
    state.fails = false
    await counter.flush()
    expect(counter.unstored('t', 'minute')).toEqual([])
    expect(await stored()).toMatchObject([{ counterId: row?.counterId, revision: 2 }])
  })

  it('A flush without counts writes nothing', async () => {
    const { calls, counter, logger } = counting()
    await counter.flush()
    expect([calls, logger.lines]).toEqual([[], []])
  })
})

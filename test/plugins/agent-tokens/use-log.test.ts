import { describe, expect, it } from 'vitest'
import type { ActionRoute } from '../../../src/core/endpoints.ts'
import type { Principal } from '../../../src/model/principal.ts'
import type { TokenOperation } from '../../../src/model/token-use.ts'
import type { NewTokenUse, TokenUseRecords } from '../../../src/plugins/agent-tokens/token-use-records.ts'
import { tokenUseLog } from '../../../src/plugins/agent-tokens/use-log.ts'
import type { RequestEnd } from '../../../src/plugins/plugin.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { reportTo } from '../../support/plugin-core.ts'

const ROUTE: ActionRoute = { name: 'any', operation: 'session_run', method: 'POST', path: '/any', maxBytes: 0 }

function logged() {
  const clock = fakeClock()
  const logger = recordingLogger()
  const calls: (readonly NewTokenUse[])[] = []
  const removals: Parameters<TokenUseRecords['remove']>[0][] = []
  const state = {
    ...{ fails: false, losesAnswer: false, failsFrom: Number.POSITIVE_INFINITY },
    gate: Promise.resolve(),
  }
  const { add, ...noted } = tokenUseLog({
    ...{ clock, logger, ids: countingIds(), report: reportTo({ clock, logger }) },
    records: {
      async record(uses) {
        await state.gate
        if (state.fails || calls.length >= state.failsFrom) throw new Error('down')
        calls.push(uses)
        if (state.losesAnswer) throw new Error('the connection was lost')
      },
      async remove(removal) {
        removals.push(removal)
        return 0
      },
    },
  })
  const log = {
    ...noted,
    add: (principal: Principal, use: TokenOperation, end: Pick<RequestEnd, 'refused' | 'id'>): void =>
      add({ principal, action: { ...ROUTE, use }, ...end }),
  }
  const written = async (): Promise<NewTokenUse[]> => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
    return calls.flat()
  }
  return { clock, logger, calls, removals, state, log, written }
}

const token = (more: Partial<Principal> = {}): Principal => ({ id: 'token', tenant: 't', sessionId: 's', ...more })
const accepted = (id: string) => ({ id })
const refused = (code: string, id?: string) => ({ refused: code, id })

describe('the log of uses', () => {
  it('Uses are stored together a second after the first, with their age', async () => {
    const { log, clock, calls, written } = logged()
    log.add(token(), 'dispatch', accepted('dsp_1'))
    clock.advance(400)
    log.add(token({ id: 'other' }), 'session_run', refused('validation_failed', 'req_1'))
    clock.advance(599)
    expect(await written()).toEqual([])
    clock.advance(1)
    expect(await written()).toEqual([
      {
        ...{ useId: 'use_1', jti: 'token', tenant: 't', sessionId: 's', operation: 'dispatch' },
        ...{ outcome: 'accepted', id: 'dsp_1', times: 1, agoMs: 1_000 },
      },
      {
        ...{ useId: 'use_2', jti: 'other', tenant: 't', sessionId: 's', operation: 'session_run' },
        ...{ outcome: 'refused', code: 'validation_failed', id: 'req_1', times: 1, agoMs: 600 },
      },
    ])
    expect(calls).toHaveLength(1)
    clock.advance(60_000)
    expect(await written()).toHaveLength(2)
    expect(clock.timers).toBe(0)
  })

  it('The log has uses until they are stored, also while nobody knows whether they were', async () => {
    const { log, state } = logged()
    expect(log.hasNoted()).toBe(false)
    log.add(token(), 'dispatch', accepted('dsp_1'))
    expect(log.hasNoted()).toBe(true)
    await log.flush()
    expect(log.hasNoted()).toBe(false)
    log.add(token(), 'dispatch', accepted('dsp_2'))
    state.losesAnswer = true
    await log.flush()
    expect(log.hasNoted()).toBe(true)
    state.losesAnswer = false
    await log.flush()
    expect(log.hasNoted()).toBe(false)
  })

  it('Applications are not logged, and cause no timer', () => {
    const { log, clock } = logged()
    log.add({ id: 'app', tenant: 't' }, 'dispatch', accepted('dsp_1'))
    expect(clock.timers).toBe(0)
  })

  it('Equal accepted uses of a second are stored once, with their number', async () => {
    const { log, clock, written } = logged()
    for (const id of ['r1', 'r1', 'r2', 'r1']) log.add(token(), 'session_run', accepted(id))
    log.add(token({ id: 'other' }), 'session_run', accepted('r1'))
    log.add(token(), 'dispatch', accepted('r1'))
    log.add(token({ tenant: 'u' }), 'session_run', accepted('r1'))
    clock.advance(1_000)
    expect((await written()).map(({ times }) => times)).toEqual([3, 1, 1, 1, 1])
    log.add(token(), 'dispatch', accepted('r1'))
    clock.advance(1_000)
    expect(await written()).toHaveLength(6)
  })

  it('A flood of posts about one run is stored once a minute, with its number', async () => {
    const { log, clock, written } = logged()
    for (let second = 0; second < 60; second++) {
      for (let at = 0; at < 10; at++) log.add(token(), 'session_run', accepted('r1'))
      clock.advance(1_000)
      expect(await written()).toHaveLength(1)
    }
    log.add(token(), 'session_run', accepted('r2'))
    clock.advance(1_000)
    expect((await written()).map(({ id, times }) => [id, times])).toEqual([
      ['r1', 10],
      ['r1', 590],
      ['r2', 1],
    ])
  })

  it('A clock that was set back delays no use by more than a minute', async () => {
    const { log, clock, written } = logged()
    log.add(token(), 'session_run', accepted('r1'))
    clock.advance(1_000)
    await written()
    clock.advance(-3_600_000)
    log.add(token(), 'session_run', accepted('r1'))
    clock.advance(60_000)
    expect(await written()).toHaveLength(2)
  })

  it('A flood of refusals is stored once a minute under each of the first 20 exchanged tokens and under the token above', async () => {
    const { log, clock, written } = logged()
    const flood = (times: number): void => {
      for (let at = 0; at < times; at++) {
        log.add(
          token({ id: `child${at}`, parents: [{ id: 'p' }, { id: 'root' }] }),
          'exchange',
          refused('rate_limited'),
        )
      }
    }
    const children = Array.from({ length: 20 }, (_, at) => [`child${at}`, 1] as const)
    flood(1_000)
    clock.advance(1_000)
    expect((await written()).map(({ jti, times }) => [jti, times])).toEqual([...children, ['root', 980]])
    for (let second = 0; second < 59; second++) {
      flood(10)
      clock.advance(1_000)
      expect(await written()).toHaveLength(21)
    }
    clock.advance(1_000)
    expect((await written()).slice(21).map(({ jti, times }) => [jti, times])).toEqual(
      children.slice(0, 10).map(([jti]) => [jti, 59]),
    )
  })

  it('Refusals are stored once a minute for each token, operation and code', async () => {
    const { log, clock, written } = logged()
    const one = (): void => log.add(token({ id: 'root' }), 'exchange', refused('rate_limited'))
    one()
    clock.advance(1_000)
    expect(await written()).toHaveLength(1)
    one()
    log.add(token({ id: 'root' }), 'exchange', refused('insufficient_scope'))
    log.add(token({ id: 'root' }), 'dispatch', refused('rate_limited'))
    log.add(token({ id: 'root2' }), 'exchange', refused('rate_limited'))
    clock.advance(1_000)
    expect(await written()).toHaveLength(4)
    clock.advance(60_000)
    expect(await written()).toHaveLength(5)
    clock.advance(120_000)
    one()
    clock.advance(1_000)
    expect(await written()).toHaveLength(6)
  })

  it('A flush stores everything at once, also refusals that wait', async () => {
    const { log, clock, calls } = logged()
    log.add(token(), 'dispatch', refused('grant_spent'))
    await log.flush()
    log.add(token(), 'dispatch', refused('grant_spent'))
    log.add(token(), 'dispatch', accepted('dsp_1'))
    await log.flush()
    expect(calls.map((uses) => uses.length)).toEqual([1, 2])
    expect(clock.timers).toBe(0)
    await log.flush()
    expect(calls).toHaveLength(2)
  })

  it('A flush during a write waits for it and stores the rest', async () => {
    const { log, calls, state } = logged()
    let open = (): void => {}
    state.gate = new Promise((resolve) => {
      open = resolve
    })
    log.add(token(), 'dispatch', accepted('dsp_1'))
    const first = log.flush()
    log.add(token(), 'dispatch', accepted('dsp_2'))
    const second = log.flush()
    open()
    await Promise.all([first, second])
    expect(calls.map((uses) => uses.map(({ id }) => id))).toEqual([['dsp_1'], ['dsp_2']])
  })

  it('Uses that cannot be stored are kept, and the failure is logged without a rejection', async () => {
    const { log, clock, logger, state, written } = logged()
    state.fails = true
    log.add(token(), 'dispatch', accepted('dsp_1'))
    log.add(token(), 'dispatch', accepted('dsp_1'))
    clock.advance(1_000)
    expect(await written()).toEqual([])
    expect(logger.lines.map(({ level, event }) => [level, event])).toEqual([['error', 'token_use.write_failed']])
    log.add(token(), 'dispatch', accepted('dsp_1'))
    state.fails = false
    clock.advance(1_000)
    expect(await written()).toMatchObject([
      { useId: 'use_1', id: 'dsp_1', times: 2, agoMs: 2_000 },
      { useId: 'use_3', id: 'dsp_1', times: 1, agoMs: 1_000 },
    ])
  })

  it('A use whose write was stored without an answer is written again unchanged, and later uses do not wait behind it', async () => {
    const { log, clock, state, calls, written } = logged()
    state.losesAnswer = true
    log.add(token(), 'dispatch', accepted('dsp_1'))
    clock.advance(1_000)
    await written()
    state.losesAnswer = false
    log.add(token(), 'dispatch', accepted('dsp_1'))
    clock.advance(1_000)
    expect((await written()).map(({ useId, times }) => [useId, times])).toEqual([
      ['use_1', 1],
      ['use_1', 1],
      ['use_2', 1],
    ])
    expect(calls).toHaveLength(3)
    expect(clock.timers).toBe(0)
  })

  it('A failure in the middle of many uses writes none of them under two ids', async () => {
    const { log, clock, state, calls, written } = logged()
    for (let at = 0; at < 250; at++) log.add(token(), 'dispatch', accepted(`dsp_${at}`))
    state.failsFrom = 1
    clock.advance(1_000)
    expect(await written()).toHaveLength(100)
    for (let at = 0; at < 250; at++) log.add(token(), 'dispatch', accepted(`dsp_${at}`))
    state.failsFrom = Number.POSITIVE_INFINITY
    clock.advance(1_000)
    const uses = await written()
    expect(new Set(uses.map(({ useId }) => useId)).size).toBe(uses.length)
    expect(calls.map(({ length }) => length)).toEqual([100, 100, 100, 100, 50])
    const times = (id: string) => uses.filter((use) => use.id === id).map((use) => use.times)
    expect([times('dsp_0'), times('dsp_150'), times('dsp_249')]).toEqual([[1, 1], [1, 1], [2]])
  })

  it('One tenant has at most half of the room for 10,000 uses; the number of others is logged', async () => {
    const { log, clock, logger, calls, written } = logged()
    for (let at = 0; at < 5_003; at++) log.add(token(), 'session_run', accepted(`r${at}`))
    clock.advance(1_000)
    expect(await written()).toHaveLength(5_000)
    expect(Math.max(...calls.map((uses) => uses.length))).toBe(100)
    expect(logger.lines).toEqual([{ level: 'warn', event: 'token_use.dropped', fields: { uses: 3 } }])
  })

  it('A tenant that floods the log leaves room for the uses of others', async () => {
    const { log, clock, logger, written } = logged()
    for (let at = 0; at < 20_000; at++) log.add(token(), 'session_run', accepted(`r${at}`))
    for (let at = 0; at < 2_000; at++) log.add(token({ tenant: 'u' }), 'session_run', accepted(`r${at}`))
    clock.advance(1_000)
    expect((await written()).filter(({ tenant }) => tenant === 'u')).toHaveLength(2_000)
    expect(logger.lines).toMatchObject([{ event: 'token_use.dropped', fields: { uses: 15_000 } }])
    log.add(token(), 'session_run', accepted('r5000'))
    clock.advance(1_000)
    expect(await written()).toHaveLength(7_001)
  })

  it('Old uses are removed at most once a minute, and more than were added', async () => {
    const { log, clock, removals } = logged()
    log.add(token(), 'dispatch', accepted('dsp_1'))
    await log.flush()
    expect(removals).toEqual([])
    clock.advance(60_000)
    for (let at = 0; at < 400; at++) log.add(token(), 'dispatch', accepted(`dsp_${at}`))
    await log.flush()
    expect(removals).toEqual([{ usedForMs: 7 * 86_400_000, limit: 802 }])
    clock.advance(59_999)
    log.add(token(), 'dispatch', accepted('dsp_2'))
    await log.flush()
    expect(removals).toHaveLength(1)
    clock.advance(1)
    log.add(token(), 'dispatch', accepted('dsp_3'))
    await log.flush()
    expect(removals[1]).toEqual({ usedForMs: 7 * 86_400_000, limit: 500 })
  })
})

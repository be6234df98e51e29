import { describe, expect, it } from 'vitest'
import { loadOf, overloaded } from '../../../src/core/load/load-limits.ts'
import { recordingLogger } from '../../support/deps.ts'

const caller = { hasLeft: () => false }
const principal = { id: 'app', tenant: 'default' }
const shed = (fields: object) => ({ level: 'warn', event: 'load.shed', fields })

describe('loadOf', () => {
  it('loadOf logs load.shed with the amount in the stage that is full', () => {
    const logger = recordingLogger()
    const limits = { maxInFlight: 1, maxUnfinished: 2, maxUnfinishedBytes: 10 }
    const { callers, bodies, flight } = loadOf(limits, logger)
    for (const taken of [true, true, false]) expect(callers.tryAcquire(principal, { ...caller })).toBe(taken)
    for (const taken of [true, false]) expect(flight.tryAcquire(principal, { ...caller })).toBe(taken)
    let refusals = 0
    bodies.begin(principal, () => refusals++)?.hold(11)
    expect(refusals).toBe(1)
    expect(logger.lines).toEqual([
      shed({ authenticating: 2 }),
      shed({ inFlight: 1 }),
      shed({ unfinished: 1, unfinishedBytes: 11 }),
    ])
  })

  it('loadOf takes 1,000 requests in each stage and 64 MiB of bodies by default', () => {
    const logger = recordingLogger()
    const { callers, bodies, flight } = loadOf({}, logger)
    for (const { tryAcquire } of [callers, flight]) {
      for (let at = 0; at < 1_000; at++) expect(tryAcquire(principal, { ...caller })).toBe(true)
      expect(tryAcquire(principal, { ...caller })).toBe(false)
    }
    let refusals = 0
    const refuse = () => refusals++
    const [body] = Array.from({ length: 1_000 }, () => bodies.begin(principal, refuse))
    expect(bodies.begin(principal, refuse)).toBeUndefined()
    body?.hold(64 * 1_048_576)
    expect(refusals).toBe(0)
    body?.hold(64 * 1_048_576 + 1)
    expect(refusals).toBe(1)
  })
})

describe('overloaded', () => {
  it('overloaded asks the caller to try again after a second', () => {
    const detail = 'Try again shortly.'
    expect(overloaded()).toMatchObject({ refused: 'overloaded', detail, headers: { 'retry-after': '1' } })
  })
})

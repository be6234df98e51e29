import { describe, expect, it } from 'vitest'
import { Hold } from '../../../src/core/delivery/lease.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { withoutStrayRejections } from '../../support/stray-rejections.ts'
import { type Gate, gate } from '../dispatch/dispatching.ts'
import { LEASE, pass, settled } from './attempting.ts'

interface Held {
  readonly deps: TestDeps
  readonly hold: Hold
  /** The pending renewals. */
  readonly renewals: readonly Gate<boolean | Promise<boolean>>[]
}

/** A lease that began `agoMs` ago, with renewals that the test settles. */
function held(agoMs = 0): Held {
  const deps = testDeps({ a: recordingChannel() })
  const renewals: Gate<boolean | Promise<boolean>>[] = []
  const renew = async (): Promise<boolean> => {
    const asked = gate<boolean | Promise<boolean>>()
    renewals.push(asked)
    return await asked.promise
  }
  const lease = { since: deps.clock.now() - agoMs, ms: LEASE }
  const hold = new Hold({ deliveryId: 'd', fence: 'f' }, lease, { ...deps, store: { renew } })
  return { deps, hold, renewals }
}

describe('a lease that has ended', () => {
  it('A lease that ended before it is held is not renewed', async () => {
    const { deps, hold, renewals } = held(LEASE)
    await pass(deps.clock, LEASE)
    expect([hold.aborted, renewals.length]).toEqual(['lease_ending', 0])
  })

  it('The signal of an ended lease is aborted with its reason on first use', () => {
    const { signal } = held(LEASE).hold
    expect([signal.aborted, signal.reason]).toEqual([true, 'lease_ending'])
  })

  it('No step begins after the end of a lease', async () => {
    const { hold } = held(LEASE)
    let begun = 0
    const step = async (): Promise<void> => void begun++
    await expect(hold.during(step)).rejects.toMatchObject({ code: 'lease_ending' })
    expect(begun).toBe(0)
  })

  it('An ended lease that is not used leaves no unhandled rejection', () =>
    withoutStrayRejections(async () => {
      const { deps } = held(LEASE)
      await settled(deps.clock)
    }))
})

describe('a lease that was released', () => {
  it('A held lease has one timer, and a released one none', async () => {
    const { deps, hold, renewals } = held()
    const timers = [deps.clock.timers]
    await pass(deps.clock, LEASE / 3)
    timers.push(deps.clock.timers)
    renewals[0]?.open(true)
    await settled(deps.clock)
    timers.push(deps.clock.timers)
    hold.release()
    expect([...timers, deps.clock.timers]).toEqual([1, 1, 1, 0])
  })

  it.each([
    ['succeeds', () => Promise.resolve(true)],
    ['is refused', () => Promise.resolve(false)],
    ['fails', () => Promise.reject(new TypeError('down'))],
  ])('A released lease is not renewed again when a renewal in flight %s', async (_, answer) => {
    const { deps, hold, renewals } = held()
    await pass(deps.clock, LEASE / 3)
    hold.release()
    renewals[0]?.open(answer())
    await pass(deps.clock, LEASE)
    expect([renewals.length, hold.aborted]).toEqual([1, undefined])
  })
})

describe('a lease that cannot be renewed', () => {
  it('A failed renewal is retried every third of the lease, which is used for nine tenths at most', async () => {
    const { deps, hold, renewals } = held()
    expect(hold.leftMs()).toBe(LEASE * 0.9)
    for (const turn of [1, 2]) {
      await pass(deps.clock, LEASE / 3)
      expect(renewals).toHaveLength(turn)
      renewals.at(-1)?.open(Promise.reject(new TypeError('down')))
      await settled(deps.clock)
    }
    expect(hold.aborted).toBeUndefined()
    await pass(deps.clock, LEASE / 3)
    expect([hold.aborted, hold.leftMs()]).toEqual(['lease_ending', -LEASE * 0.1])
    expect(deps.logger.lines.map(({ event }) => event)).toEqual(['delivery.renew_failed', 'delivery.renew_failed'])
  })
})

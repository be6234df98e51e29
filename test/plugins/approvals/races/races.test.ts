import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chance } from '../../../labs/chaos/chance.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { type FakeClock, fakeClock } from '../../../support/fake-clock.ts'
import { type ProcessStores, REDIS, type StoreKind, storeKinds } from './processes.ts'
import { type Races, races } from './trial.ts'

/** Only ends a run that hangs. */
const CAP_MS = 3_600_000
const ENDS = ['accepted', 'cancelled', 'declined', 'expired']

function tryRaces({ open, trials }: StoreKind): void {
  let processes: ProcessStores
  let clock: FakeClock
  let trial: Races

  beforeAll(async () => {
    clock = fakeClock(Date.UTC(2027, 0, 15, 12))
    processes = await open(clock)
    trial = races(processes.stores, clock, chance(20_270_115))
  }, CAP_MS)
  afterAll(() => processes?.close())

  it(
    `Each of ${trials} approvals is decided once, all callers are told how, and its end is reported once`,
    async () => {
      const ends = new Map<string, string>()
      for (let at = 0; at < trials; at++) {
        const { ended, faults } = await trial.decide(at)
        expect(faults, `trial ${at}`).toEqual([])
        ends.set(ended.approvalId, ended.status)
      }
      expect([...new Set(ends.values())].sort()).toEqual(ENDS)
      expect(trial.meeting.conflicts).toBeGreaterThan(trials)
      const reports = await trial.reports()
      expect(Object.fromEntries(reports)).toEqual(Object.fromEntries([...ends].map(([id, status]) => [id, [status]])))
    },
    CAP_MS,
  )

  it(
    `Each of ${trials} accepted actions is taken by one use, whoever else wants it`,
    async () => {
      for (let at = 0; at < trials; at++) expect(await trial.take(at), `trial ${at}`).toEqual([])
      expect(trial.meeting.conflicts).toBeGreaterThan(trials)
    },
    CAP_MS,
  )
}

for (const kind of await storeKinds()) {
  const title = `two processes over ${kind.name}`
  if (kind.absent === undefined) describe(title, () => tryRaces(kind))
  else describe.skip(`${title} (skipped: ${kind.absent})`, () => tryRaces(kind))
}

const describeRedis = await serviceOrSkip('redis')
describeRedis('two processes over documents in Redis', () => tryRaces(REDIS))

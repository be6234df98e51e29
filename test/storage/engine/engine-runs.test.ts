import { describe, expect, it } from 'vitest'
import { runStoreContract } from '../../../src/contract-tests/run-store-contract.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { documentRecords } from '../../../src/storage/documents/document-records.ts'
import type { Records } from '../../../src/storage/engine/records.ts'
import { engineRuns } from '../../../src/storage/engine/runs/engine-runs.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { mapDocuments } from '../documents/map-documents.ts'
import { operation } from '../run-operations.ts'
import { runScenario } from '../run-scenario.ts'
import { frozenRecords } from './frozen-records.ts'

const RUNS = runs(60)

/** Events that must have happened. Otherwise the property proves nothing. */
const REQUIRED_EVENTS = [
  ...['created', 'merged', 'nothing merged', 'a run id of another session'],
  ...['0 ancestors', '1 ancestors', '2 ancestors', 'its own ancestor', 'a parent without a session'],
  ...['a later page, oldest first', 'a later page, newest first', 'a page of pending runs'],
  ...['removed some', 'removed all that match', 'erased a user', 'erased a session'],
]

/** A sequence with all of them, for a seed of its own: the random ones need not have any. */
const COVERING = fc.sample(operation, { seed: 3, numRuns: 200 })

interface Backend {
  /** Opens empty records, and further handles on them. */
  readonly open: (clock: Pick<Clock, 'now'>) => () => Records
  /** Whether the contract is tested too, also for a store in the transaction of a host. */
  readonly hasContract?: true
}

const BACKENDS: Readonly<Record<string, Backend>> = {
  'frozen memory': {
    open(clock) {
      const records = frozenRecords(memoryRecords(clock))
      return () => records
    },
    hasContract: true,
  },
  'memory that follows no ancestors': {
    open(clock) {
      const records = memoryRecords(clock)
      const read: Records['read'] = (wanted) => records.read(wanted.map(({ follow: _, ...one }) => one))
      return () => ({ ...records, read })
    },
  },
  documents: {
    open(clock) {
      const texts = new Map<string, string>()
      return () => documentRecords(mapDocuments(clock, texts))
    },
  },
}

for (const [name, { open, hasContract = false }] of Object.entries(BACKENDS))
  describe(`runs over ${name}`, () => {
    it('Runs equal the model after any sequence of operations', { timeout: TIMEOUT_MS }, async () => {
      const happened = new Map<string, number>()
      const note = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1)
      await fc.assert(
        fc.asyncProperty(fc.array(operation, { maxLength: 100, size: 'max' }), async (operations) => {
          const clock = fakeClock()
          const { play, end } = runScenario(engineRuns(open(clock)(), { isAlone: false }), clock, note)
          // Runs are listed by creation time: the clock does not go back.
          for (const one of operations) await play(one.do === 'wait' ? { ...one, ms: Math.abs(one.ms) } : one)
          await end()
        }),
        { numRuns: RUNS, examples: [[COVERING]] },
      )
      expect(REQUIRED_EVENTS.filter((what) => !happened.has(what))).toEqual([])
    })

    for (const isAlone of hasContract ? [false, true] : [])
      describe(isAlone ? 'in the transaction of a host' : 'outside transactions', () =>
        runStoreContract({
          test: it,
          capabilities: { durable: true },
          create() {
            const clock = fakeClock()
            const handle = open(clock)
            const reopen = () => engineRuns(handle(), { isAlone })
            return { store: reopen(), other: reopen(), reopen, now: clock.now, advance: clock.advance }
          },
        }),
      )
  })

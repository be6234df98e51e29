import { expect, test } from 'vitest'
import { memoryRuns } from '../../src/storage/memory/memory-runs.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../support/properties.ts'
import { operation } from './run-operations.ts'
import { runScenario } from './run-scenario.ts'

const RUNS = runs(120)

/** Events that must have happened. Otherwise the property proves nothing. */
const REQUIRED_EVENTS = [
  ...['created', 'merged', 'nothing merged', 'a run id of another session'],
  ...['0 ancestors', '1 ancestors', '2 ancestors', 'its own ancestor', 'a parent without a session'],
  ...['a later page, oldest first', 'a later page, newest first', 'a page of pending runs'],
  ...['removed some', 'removed all that match', 'erased a user', 'erased a session'],
]

/** A sequence with all of them, for a seed of its own: the random ones need not have any. */
const COVERING = fc.sample(operation, { seed: 3, numRuns: 200 })

test('memoryRuns equals the model after any sequence of operations', { timeout: TIMEOUT_MS }, async () => {
  const happened = new Map<string, number>()
  const note = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1)
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 100, size: 'max' }), async (operations) => {
      const clock = fakeClock()
      const { play, end } = runScenario(memoryRuns(clock), clock, note)
      for (const one of operations) await play(one)
      await end()
    }),
    { numRuns: RUNS, examples: [[COVERING]] },
  )
  expect(REQUIRED_EVENTS.filter((what) => !happened.has(what))).toEqual([])
})

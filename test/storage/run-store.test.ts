import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryRuns } from '../../src/storage/memory/memory-runs.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { operation } from './run-operations.ts'
import { runScenario } from './run-scenario.ts'

const RUNS = 120

/** Events that must have happened in the random runs. Otherwise the property proves nothing. */
const REQUIRED_EVENTS = [
  ...['created', 'merged', 'nothing merged', 'a run id of another session'],
  ...['0 ancestors', '1 ancestors', '2 ancestors', 'its own ancestor', 'a parent without a session'],
  ...['a later page, oldest first', 'a later page, newest first', 'a page of pending runs'],
  ...['removed some', 'removed all that match', 'erased a user', 'erased a session'],
]

test('memoryRuns equals the model after any sequence of operations', async () => {
  const happened = new Map<string, number>()
  const note = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1)
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 100, size: 'max' }), async (operations) => {
      const clock = fakeClock()
      const { play, end } = runScenario(memoryRuns(clock), clock, note)
      for (const one of operations) await play(one)
      await end()
    }),
    { numRuns: RUNS },
  )
  expect(REQUIRED_EVENTS.filter((what) => !happened.has(what))).toEqual([])
}, 120_000)

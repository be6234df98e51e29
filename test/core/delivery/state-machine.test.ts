import { expect, test } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { operation } from './operations.ts'
import { scenario } from './scenario.ts'

const RUNS = runs(2_000)

/** Notes that the generated scenarios must cover. */
const REQUIRED = [
  ...['accepted', 'replayed', 'key_reused', 'joined', 'taken out'],
  ...['new > queued', 'new > held', 'new > skipped throttled', 'queued > sending', 'sending > sending'],
  ...['sending > sent', 'sending > queued', 'sending > failed attempts_exhausted', 'sending > skipped opted_out'],
  ...['queued > cancelled', 'held > cancelled', 'queued > expired', 'sending > expired', 'held > expired'],
  ...['held > queued', 'held > skipped fallback_unneeded', 'held > skipped throttled'],
  ...['failed > queued', 'expired > queued', 'expired > held'],
  ...[
    'replanned all',
    'replanned first',
    'failed > held',
    'failed > skipped condition_false',
    'failed > skipped throttled',
  ],
]

/** A sequence that covers them, for a seed of its own: the random ones need not. */
const COVERING = fc.sample(operation, { seed: 100, numRuns: 450 })

test('Every delivery reaches a final status along the state diagram, in any order of operations', {
  timeout: TIMEOUT_MS,
}, async () => {
  const happened = new Map<string, number>()
  const note = (what: string): void => void happened.set(what, (happened.get(what) ?? 0) + 1)
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { maxLength: 60, size: 'max' }), async (operations) => {
      const clock = fakeClock()
      const played = scenario(memoryStore({ clock }), clock, note)
      for (const one of operations) await played.play(one)
      await played.drain()
    }),
    { numRuns: RUNS, examples: [[COVERING]] },
  )
  expect(REQUIRED.filter((what) => !happened.has(what))).toEqual([])
})

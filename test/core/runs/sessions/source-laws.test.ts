import { expect, it } from 'vitest'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'
import { stillClock } from '../recorder.ts'
import { expectAgentsAlone, expectApplicationKept, expectSums, recordSequence, sequences } from './source-laws.ts'

/** Sequences of posts by applications and agents. On failure the seed and the path to repeat it with are printed. */
const SEQUENCES = runs(1000)

it.each([
  ['The sums of each source equal those of an oracle, in any order of posts', expectSums],
  ['What an application reported is shown, counted and published as if no agent had posted', expectApplicationKept],
  ['An agent is shown nothing but what agents posted', expectAgentsAlone],
])(
  '%s',
  async (_, expectLaw) => {
    await fc.assert(
      fc.asyncProperty(sequences, (posts) => expectLaw(recordSequence(posts, memoryStore({ clock: stillClock() })))),
      { numRuns: SEQUENCES },
    )
    expect.hasAssertions()
  },
  TIMEOUT_MS,
)

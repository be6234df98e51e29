import { AssertionError } from 'node:assert'
import { describe, expect, it } from 'vitest'
import { fakeClock } from '../../src/contract-tests/fake-clock.ts'
import { feedbackStoreContract } from '../../src/contract-tests/feedback-store-contract.ts'
import type { FeedbackStore } from '../../src/ports/feedback-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'

const capabilities = { secondHandle: false }

describe('feedbackStoreContract on the memory store', () => {
  feedbackStoreContract({
    test: it,
    skip: it.skip,
    create() {
      const { now, advance } = fakeClock()
      return { store: memoryStore({ clock: { now } }), now, advance }
    },
    capabilities,
  })
})

interface Bug {
  /** What the store does. */
  readonly it: string
  plant(store: FeedbackStore): FeedbackStore
  readonly caughtBy: readonly string[]
}

const BUGS: readonly Bug[] = [
  {
    it: 'ignores `once`',
    plant: (store) => ({ ...store, recordFeedback: ({ feedback }) => store.recordFeedback({ feedback }) }),
    caughtBy: [
      'a batch with a `once` that is stored is ignored as a whole',
      'of concurrent batches with one `once`, exactly one is stored',
    ],
  },
  {
    it: 'restores a suppression with a repeated report',
    plant: (store) => ({
      ...store,
      async recordFeedback(batch) {
        const added = await store.recordFeedback(batch)
        await store.addSuppressions(batch.feedback.flatMap(({ suppression }) => suppression ?? []))
        return added
      },
    }),
    caughtBy: ['a repeated report does not restore its suppression'],
  },
  {
    it: 'finds reports of every channel',
    plant(store) {
      const one = (channel: string) => (channel === 'other' ? 'email' : channel)
      return {
        ...store,
        recordFeedback: (batch) =>
          store.recordFeedback({
            ...batch,
            feedback: batch.feedback.map((each) => ({ ...each, channel: one(each.channel) })),
          }),
        findFeedback: (owners) => store.findFeedback(owners.map((each) => ({ ...each, channel: one(each.channel) }))),
      }
    },
    caughtBy: ['reports of another tenant, channel or owner are not found'],
  },
  {
    it: 'keeps the first expiry',
    plant(store) {
      const seen = new Set<string>()
      return {
        ...store,
        addSuppressions: (given) =>
          store.addSuppressions(given.filter(({ suppressionId: id }) => !seen.has(id) && seen.add(id))),
      }
    },
    caughtBy: [
      'a repeated suppression expires at the later of both times',
      'an expired suppression can be added again',
    ],
  },
]

describe('feedbackStoreContract', () => {
  it.each(BUGS)('feedbackStoreContract catches a store that $it', async ({ plant, caughtBy }) => {
    const cases = new Map<string, () => Promise<void>>()
    feedbackStoreContract({
      test: (name, body) => cases.set(name, body),
      create() {
        const { now, advance } = fakeClock()
        return { store: plant(memoryStore({ clock: { now } })), now, advance }
      },
      capabilities,
    })
    for (const name of caughtBy) await expect(cases.get(name)?.()).rejects.toBeInstanceOf(AssertionError)
  })
})

import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../../src/core/json/canonical-json.ts'
import { mergeRun } from '../../../../src/core/runs/merge/merge-run.ts'
import type { RunState, RunUpdate } from '../../../../src/model/run.ts'
import { fc, runs, TIMEOUT_MS } from '../../../support/properties.ts'

/** A post with 20 entries of each kind from a pool larger than the limit of a run. */
const post = fc.record({ at: fc.array(fc.nat(300), { minLength: 20, maxLength: 20 }), seq: fc.nat(5) })

function updateOf({ at, seq }: { at: number[]; seq: number }): RunUpdate {
  const named = (prefix: string) => Object.fromEntries(at.map((index) => [`${prefix}${index}`, index]))
  return {
    runId: 'r1',
    sessionId: 's1',
    seq,
    counts: named('c'),
    metadata: named('m'),
    tags: at.map((index) => `t${index}`),
  }
}

function mergeAll(updates: readonly RunUpdate[]): RunState | undefined {
  let state: RunState | undefined
  for (const update of updates) {
    const merge = mergeRun(state, update)
    if (merge.outcome === 'merged') state = merge.state
  }
  return state
}

describe('limits of a run', { timeout: TIMEOUT_MS }, () => {
  it('A run keeps the same 128 entries in every order of posts, and a repeat changes nothing', () => {
    fc.assert(
      fc.property(fc.array(post, { minLength: 15, maxLength: 30 }), (posts) => {
        const updates = posts.map(updateOf)
        const state = mergeAll(updates)
        expect(canonicalJson(mergeAll([...updates].reverse()))).toBe(canonicalJson(state))
        expect(Object.keys(state?.application?.metadata ?? {}).length).toBeLessThanOrEqual(128)
        expect(Object.keys(state?.application?.counts ?? {}).length).toBeLessThanOrEqual(128)
        expect(state?.application?.tags.length).toBeLessThanOrEqual(128)
        const [again] = updates
        const repeat = again && mergeRun(state, again)
        expect(repeat).toMatchObject({ outcome: 'merged', changed: false })
      }),
      { numRuns: runs(200) },
    )
  })

  it('The first post of a run is cut to the limits like any other', () => {
    const many = updateOf({ at: Array.from({ length: 200 }, (_, index) => index), seq: 0 })
    const few = updateOf({ at: [299], seq: 0 })
    expect(canonicalJson(mergeAll([many, few]))).toBe(canonicalJson(mergeAll([few, many])))
    const first = mergeAll([many])
    const sizes = [first?.application?.counts, first?.application?.metadata, first?.application?.tags].map(
      (held) => Object.keys(held ?? {}).length,
    )
    expect(sizes).toEqual([128, 128, 128])
  })

  it('Entries over the limit of a run are listed as ignored', () => {
    const keys = Array.from({ length: 130 }, (_, index) => `k${String(index).padStart(3, '0')}`)
    const full = mergeAll(
      keys
        .slice(0, 128)
        .map((key) => ({ runId: 'r1', sessionId: 's1', metadata: { [key]: 1 }, counts: { [key]: 1 }, tags: [key] })),
    )
    const last = { k129: 1 }
    expect(
      mergeRun(full, { runId: 'r1', sessionId: 's1', metadata: last, counts: last, tags: ['k129'] }),
    ).toMatchObject({
      changed: false,
      ignored: [
        { field: 'counts.k129', reason: 'over_limit' },
        { field: 'metadata.k129', reason: 'over_limit' },
        { field: 'tags', reason: 'over_limit' },
      ],
    })
  })
})

import { describe, expect, it } from 'vitest'
import { decideMerge } from '../../../../src/core/runs/merge/decide-merge.ts'
import type { RunSignal, RunUpdate } from '../../../../src/model/run.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'

const clock = { now: () => 0 }

/** What a run has to tell after posts, where those signals are wanted. */
async function untoldAfter(wanted: readonly RunSignal[], ...posts: readonly Partial<RunUpdate>[]) {
  const store = memoryStore({ clock })
  const rules = { tenant: 'default', now: 0, tells: (signal: RunSignal) => wanted.includes(signal) }
  const key = { tenant: 'default', sessionId: 's1', runId: 'r1' }
  for (const post of posts)
    await store.mergeRun(key, (sight) => decideMerge(sight, { sessionId: 's1', runId: 'r1', ...post }, rules))
  return (await store.findRun('default', 'r1'))?.account
}

const cost = (amount: string) => ({ amount, currency: 'EUR', source: 'client' }) as const

describe('what is to be told of a run', () => {
  it('is an end that it comes to for the first time, where that is wanted', async () => {
    const there = { status: 'completed', seq: 1 } as const
    const away = { status: 'failed', seq: 2 } as const
    const back = { status: 'completed', seq: 3 } as const
    expect(await untoldAfter(['completed'], there, away, back)).toMatchObject({
      ended: ['completed', 'failed'],
      untold: ['completed'],
    })
    expect(await untoldAfter(['failed'], there, away, back)).toMatchObject({ untold: ['failed'] })
    expect(await untoldAfter([], there, away, back)).toMatchObject({ untold: [] })
  })

  it('is once that it spends otherwise, whatever it was that changed', async () => {
    const first: Partial<RunUpdate> = { counts: { inputTokens: 1 } }
    expect(await untoldAfter(['budget'], {})).toMatchObject({ untold: [] })
    expect(await untoldAfter(['budget'], {}, { status: 'completed' })).toMatchObject({ untold: [] })
    expect(await untoldAfter(['failed'], first)).toMatchObject({ untold: [] })
    expect(await untoldAfter(['budget'], first, { counts: { inputTokens: 2 } })).toMatchObject({ untold: ['budget'] })
    expect(await untoldAfter(['budget'], { status: 'running' }, { cost: cost('1') })).toMatchObject({
      untold: ['budget'],
    })
    for (const post of [
      { cost: cost('1') },
      { countsScope: 'tree' },
      { userId: 'u1' },
      { parentRunId: 'p' },
    ] as const) {
      expect(await untoldAfter(['budget'], post)).toMatchObject({ untold: ['budget'] })
      expect(await untoldAfter(['budget'], {}, post)).toMatchObject({ untold: ['budget'] })
    }
    expect(await untoldAfter(['budget', 'failed'], first, { status: 'failed' })).toMatchObject({
      untold: ['budget', 'failed'],
    })
  })
})

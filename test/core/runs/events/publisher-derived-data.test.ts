import { describe, expect, it } from 'vitest'
import { decideMerge } from '../../../../src/core/runs/merge-update.ts'
import type { RunSignal, RunUpdate } from '../../../../src/model/run.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'

const clock = { now: () => 0 }

/** The pending signals of a run after posts, for a host that publishes `wanted`. */
async function pendingAfter(wanted: readonly RunSignal[], ...posts: readonly Partial<RunUpdate>[]) {
  const store = memoryStore({ clock })
  const rules = { tenant: 'default', now: 0, publishes: (signal: RunSignal) => wanted.includes(signal) }
  const key = { tenant: 'default', sessionId: 's1', runId: 'r1' }
  for (const post of posts)
    await store.mergeRun(key, (snapshot) => decideMerge(snapshot, { sessionId: 's1', runId: 'r1', ...post }, rules))
  return (await store.findRun('default', 'r1'))?.derived
}

const cost = (amount: string) => ({ amount, currency: 'EUR', source: 'client' }) as const

describe('pending signals', () => {
  it('an end becomes pending when a run first reaches it, if the host publishes it', async () => {
    const there = { status: 'completed', seq: 1 } as const
    const away = { status: 'failed', seq: 2 } as const
    const back = { status: 'completed', seq: 3 } as const
    expect(await pendingAfter(['completed'], there, away, back)).toMatchObject({
      ended: ['completed', 'failed'],
      pending: ['completed'],
    })
    expect(await pendingAfter(['failed'], there, away, back)).toMatchObject({ pending: ['failed'] })
    expect(await pendingAfter([], there, away, back)).toMatchObject({ pending: [] })
  })

  it('budget becomes pending once whenever the spend changes', async () => {
    const first: Partial<RunUpdate> = { counts: { inputTokens: 1 } }
    expect(await pendingAfter(['budget'], {})).toMatchObject({ pending: [] })
    expect(await pendingAfter(['budget'], {}, { status: 'completed' })).toMatchObject({ pending: [] })
    expect(await pendingAfter(['failed'], first)).toMatchObject({ pending: [] })
    expect(await pendingAfter(['budget'], first, { counts: { inputTokens: 2 } })).toMatchObject({ pending: ['budget'] })
    expect(await pendingAfter(['budget'], { status: 'running' }, { cost: cost('1') })).toMatchObject({
      pending: ['budget'],
    })
    for (const post of [
      { cost: cost('1') },
      { countsScope: 'tree' },
      { userId: 'u1' },
      { parentRunId: 'p' },
    ] as const) {
      expect(await pendingAfter(['budget'], post)).toMatchObject({ pending: ['budget'] })
      expect(await pendingAfter(['budget'], {}, post)).toMatchObject({ pending: ['budget'] })
    }
    expect(await pendingAfter(['budget', 'failed'], first, { status: 'failed' })).toMatchObject({
      pending: ['budget', 'failed'],
    })
  })
})

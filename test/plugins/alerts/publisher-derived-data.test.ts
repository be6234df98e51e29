import { describe, expect, it } from 'vitest'
import { decideMerge } from '../../../src/core/runs/merge-update.ts'
import type { RunUpdate } from '../../../src/model/run.ts'
import type { AlertSignal } from '../../../src/plugins/alerts/run-events.ts'
import type { PriceBook } from '../../../src/ports/price-book.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { storedAs } from '../../core/runs/stored.ts'
import { raising } from './publishing.ts'

const clock = { now: () => 0 }

/** The pending signals of a run after posts, for a host that publishes `wanted`. */
async function pendingAfter(wanted: readonly AlertSignal[], ...posts: readonly Partial<RunUpdate>[]) {
  const store = memoryStore({ clock })
  const rules = { tenant: 'default', now: 0, signals: raising(...wanted) }
  const key = { tenant: 'default', sessionId: 's1', runId: 'r1' }
  for (const post of posts)
    await store.mergeRun(key, (snapshot) => decideMerge(snapshot, { sessionId: 's1', runId: 'r1', ...post }, rules))
  return (await store.findRun({ tenant: 'default', sessionId: 's1', runId: 'r1' }))?.derived
}

const cost = (amount: string) => ({ amount, currency: 'EUR', source: 'client' }) as const

describe('pending signals', () => {
  it('An end becomes pending when a run first reaches it, if the host publishes it', async () => {
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

  it('The signal budget becomes pending once whenever the spend changes', async () => {
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

describe('a spend that changes after its signal was published', () => {
  /** The pending signals after a post about a run whose signals were all published. */
  function pendingOf(first: Partial<RunUpdate>, then: Partial<RunUpdate>, prices?: PriceBook) {
    const rules = { tenant: 'default', now: 0, signals: raising('budget') }
    const ids = { sessionId: 's1', runId: 'r1' }
    const { state } = decideMerge({ ancestors: [] }, { ...ids, ...first }, rules)
    if (!state) throw new Error('nothing was merged')
    const run = storedAs(state)
    return decideMerge({ run, ancestors: [] }, { ...ids, seq: 9, ...then }, { ...rules, prices }).derived?.pending
  }

  it.each<[string, Partial<RunUpdate>]>([
    ['amount', { cost: cost('2') }],
    ['currency', { cost: { ...cost('1'), currency: 'USD' } }],
    ['counts', { counts: { inputTokens: 2 } }],
    ['scope of counts', { countsScope: 'tree' }],
    ['user', { userId: 'u2' }],
    ['parent', { parentRunId: 'p' }],
  ])('A change of the %s is a signal again', (_, post) => {
    expect(pendingOf({ cost: cost('1'), counts: { inputTokens: 1 } }, post)).toEqual(['budget'])
  })

  it('A price that becomes known is a signal', () => {
    const book: PriceBook = { price: () => ({ amount: '1', currency: 'USD', version: '1' }) }
    const named = { model: 'm', status: 'completed' } as const
    expect(pendingOf({ counts: { inputTokens: 1 } }, named, book)).toEqual(['budget'])
    expect(pendingOf({ counts: { inputTokens: 1 } }, named)).toEqual([])
  })

  it('A change of anything else is no signal', () => {
    for (const post of [{ tags: ['t'] }, { status: 'failed' }, { provider: 'p' }, { cost: cost('1') }] as const)
      expect(pendingOf({ cost: cost('1'), counts: { inputTokens: 1 } }, post)).toEqual([])
  })

  it("The application's naming of the agent's parent is a signal, because its own amounts move there", () => {
    const rules = { tenant: 'default', now: 0, signals: raising('budget') }
    const ids = { sessionId: 's1', runId: 'r1' }
    const { state } = decideMerge({ ancestors: [] }, { ...ids, parentRunId: 'p' }, { ...rules, source: 'agent' })
    if (!state) throw new Error('nothing was merged')
    const run = storedAs(state)
    expect(decideMerge({ run, ancestors: [] }, { ...ids, parentRunId: 'p' }, rules).derived?.pending).toEqual([
      'budget',
    ])
    expect(decideMerge({ run, ancestors: [] }, { ...ids, tags: ['t'] }, rules).derived?.pending).toEqual([])
  })
})

describe('the limits of pending ends', () => {
  const key = { tenant: 'default', sessionId: 's1', runId: 'r1' }
  const limitsOf = (tokenId: string) => [{ tokenId, max: 3 }]

  it("An agent's pending end keeps the limits of the token that reported it, and an application's has none", async () => {
    const store = memoryStore({ clock })
    const post = async (status: 'failed' | 'cancelled' | 'completed', seq: number, tokenId?: string) => {
      const posted = { sessionId: 's1', runId: 'r1', status, seq }
      const caused = tokenId === undefined ? {} : ({ source: 'agent', eventLimits: limitsOf(tokenId) } as const)
      const signals = raising('failed', 'agent:failed', 'completed', 'agent:completed', 'budget')
      const rules = { tenant: 'default', now: 0, signals }
      await store.mergeRun(key, (snapshot) => decideMerge(snapshot, posted, { ...rules, ...caused }))
      return (await store.findRun(key))?.derived
    }
    expect((await post('failed', 1, 'a'))?.eventLimits).toEqual({ 'agent:failed': limitsOf('a') })
    expect((await post('cancelled', 2, 'b'))?.eventLimits).toEqual({ 'agent:failed': limitsOf('a') })
    expect((await post('completed', 3, 'b'))?.eventLimits).toEqual({
      'agent:failed': limitsOf('a'),
      'agent:completed': limitsOf('b'),
    })
    expect(await post('completed', 1)).toMatchObject({
      pending: ['agent:failed', 'agent:completed', 'completed'],
      eventLimits: { 'agent:failed': limitsOf('a'), 'agent:completed': limitsOf('b') },
    })
  })
})

import { expect } from 'vitest'
import { viewAgentRun, viewRun } from '../../../../src/core/runs/merge/selectors.ts'
import type { RunSource } from '../../../../src/model/run.ts'
import { isFinal } from '../../../../src/model/run-status.ts'
import { noTotals, type Spend, type Totals } from '../../../../src/model/totals.ts'
import type { RunStore, StoredRun } from '../../../../src/ports/run-store.ts'
import { fc } from '../../../support/properties.ts'
import { type Posted, recordPosts } from '../recorded.ts'
import { postFields, prices, reported, USERS } from './generated-posts.ts'
import { type Flat, flatSums, withoutZeros } from './roll-up-oracle.ts'
import { expectedSourceSums, isMeteredByAgent } from './source-oracle.ts'

const AGENT_USERS = ['cleo', 'ann', undefined]
const RUNS = ['r0', 'r1', 'r2', 'r3', 'r4']
const parent = fc.constantFrom(undefined, undefined, 'never', ...RUNS)

/** Posts of both sources about some runs, in random order, some twice. A run has one parent and one agent's user by source. */
export const sequences: fc.Arbitrary<Posted[]> = fc
  .tuple(
    fc.array(fc.tuple(parent, parent, fc.constantFrom(...AGENT_USERS)), { minLength: 5, maxLength: 5 }),
    fc.array(fc.tuple(fc.nat(4), postFields, fc.boolean(), fc.nat(2)), { minLength: 1, maxLength: 12 }),
  )
  .map(([runs, posts]) =>
    posts.map(([index, fields, isAgent, hides]): Posted => {
      const [named, namedByAgent, agentUser] = runs[index] ?? []
      const of = isAgent ? namedByAgent : named
      const runId = RUNS[index] ?? 'r0'
      const parentRunId = hides === 0 || of === runId ? undefined : of
      const update = reported(runId, parentRunId, isAgent ? { ...fields, userId: agentUser } : fields)
      return { update, source: isAgent ? 'agent' : 'application' }
    }),
  )
  .chain((all) => fc.subarray(all).map((again) => [...all, ...again]))
  .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }))

/** What a store holds after some posts. */
interface Recorded {
  readonly runs: readonly StoredRun[]
  readonly totals: Totals
  readonly spendOf: (userId: string) => Promise<Spend>
}

/** A sequence, recorded whole and with the posts of one source alone; each at most once, when a law first asks for it. */
export interface RecordedSequence {
  readonly posts: readonly Posted[]
  readonly both: () => Promise<Recorded>
  readonly onlyOf: (source: RunSource) => Promise<Recorded>
}

let tenants = 0

/** Each recording has a tenant of its own. */
export function recordSequence(posts: readonly Posted[], store: RunStore): RecordedSequence {
  let both: Promise<Recorded> | undefined
  const record = async (some: readonly Posted[]): Promise<Recorded> => {
    const tenant = `t${++tenants}`
    const runs = await recordPosts(store, some, prices, tenant)
    const totals = (await store.findSession(tenant, 's1'))?.totals ?? noTotals()
    return { runs, totals, spendOf: (userId) => store.findSpend(tenant, userId, 0) }
  }
  return {
    posts,
    both() {
      both ??= record(posts)
      return both
    },
    onlyOf: (source) => record(posts.filter((post) => post.source === source)),
  }
}

/** A count stays in a sum as 0 when its run moves to the other source. */
function nonZero(flat: Flat): Flat {
  return Object.fromEntries(Object.entries(flat).filter(([, sum]) => sum !== 0n))
}

/** The sums of applications, without the numbers of runs: a run without amounts of the application counts for the agent. */
function amountsOf({ agent: _, ...application }: Totals): Flat {
  const isNumberOfRuns = (path: string): boolean =>
    path.startsWith('byStatus/') ||
    path === 'spend/runs' ||
    path === 'spend/unpricedRuns' ||
    /^models\/.*\/runs$/.test(path)
  const sums = Object.entries(flatSums(application)).filter(([path]) => !isNumberOfRuns(path))
  return nonZero(Object.fromEntries(sums))
}

/** The members of a run that a post states, without those of the store and of the other source. */
function stated(run: object): Record<string, unknown> {
  const { createdAt, updatedAt, lastSeenAt, revision, by, byAgent, ...rest } = run as ReturnType<typeof viewRun>
  return rest
}

/** The sums of each source equal those of an oracle, in any order of posts. */
export async function expectSums({ posts, both }: RecordedSequence): Promise<void> {
  const { runs, totals, spendOf } = await both()
  const expected = expectedSourceSums(runs, posts)
  const { agent, ...application } = totals
  expect(nonZero(flatSums(application as Totals))).toEqual(nonZero(expected.application))
  expect(agent ? nonZero(flatSums(agent as Totals)) : {}).toEqual(nonZero(expected.agent))
  const users: Flat = {}
  for (const user of [...USERS, 'cleo'])
    for (const [path, sum] of Object.entries(flatSums(await spendOf(user)))) users[`${user}/spend/${path}`] = sum
  expect(withoutZeros(users)).toEqual(withoutZeros(expected.users))
}

/**
 * What an application reported is shown unchanged, and outweighed in no sum, whatever agents post. Each final status that it reported
 * is published once, and each of an agent at most once.
 */
export async function expectApplicationKept(sequence: RecordedSequence): Promise<void> {
  const both = await sequence.both()
  const alone = await sequence.onlyOf('application')
  for (const run of alone.runs) expectUnchanged(run, both.runs)
  expect(amountsOf(both.totals)).toEqual(amountsOf(alone.totals))
  for (const run of both.runs) {
    const { pending } = run.derived
    expect(pending).toEqual([...new Set(pending)])
    expect(finalsOfApplication(run)).toEqual(finalsOfApplication(alone.runs.find((one) => idOf(one) === idOf(run))))
  }
}

const idOf = ({ state }: StoredRun): string => state.runId

/** `expired` is left out: an agent's final status outweighs it. */
function finalsOfApplication(run: StoredRun | undefined): readonly string[] {
  const isOther = (signal: string): boolean => signal.startsWith('agent:') || signal === 'expired'
  return (run?.derived.pending ?? []).filter((signal) => !isOther(signal))
}

/** An agent is shown nothing but what agents posted. */
export async function expectAgentsAlone(sequence: RecordedSequence): Promise<void> {
  const both = await sequence.both()
  const agents = await sequence.onlyOf('agent')
  for (const run of agents.runs) {
    const shown = both.runs.find((one) => idOf(one) === idOf(run))
    if (!shown) throw new Error('a run is missing')
    const { cost, usageByModel, ...rest } = stated(viewAgentRun(shown))
    const { cost: ownCost, usageByModel: ownUsage, ...alone } = stated(viewAgentRun(run))
    expect(rest).toEqual(alone)
    // A calculated cost is left out where it could show a model of the application.
    expect([undefined, ownCost]).toContainEqual(cost)
    expect([run.state.agent?.latest.usageByModel, ownUsage]).toContainEqual(usageByModel)
    if (isMeteredByAgent(shown.state) && !shown.state.application)
      expect(viewAgentRun(shown)).toEqual(viewAgentRun(run))
  }
}

/** Fields of an open run that an agent may end. */
const OF_STATUS = ['status', 'waitingFor', 'error', 'finishReason']

function expectUnchanged(alone: StoredRun, runs: readonly StoredRun[]): void {
  const found = runs.find(({ state }) => state.runId === alone.state.runId)
  if (!found) throw new Error('a run is missing')
  const [before, after] = [stated(viewRun(alone)), stated(viewRun(found))]
  const isEnded = isFinal(viewRun(alone).status)
  for (const [field, value] of Object.entries(before)) {
    if (OF_STATUS.includes(field) && !isEnded) continue
    // Times are compared below. A scope without amounts says nothing.
    if (field === 'timings' || (field === 'countsScope' && isMeteredByAgent(found.state))) continue
    expect([field, after[field]]).toEqual([field, value])
  }
  const [times, timesAfter] = [viewRun(alone).timings ?? {}, viewRun(found).timings ?? {}]
  for (const name of ['queuedAt', 'startedAt', 'firstTokenAt', 'activeMs', 'modelMs', 'toolMs'] as const)
    if (times[name] !== undefined) expect(timesAfter[name]).toBe(times[name])
  if (isEnded && times.endedAt !== undefined) expect(timesAfter.endedAt).toBe(times.endedAt)
}

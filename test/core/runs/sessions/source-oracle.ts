import { viewRun } from '../../../../src/core/runs/merge/selectors.ts'
import type { Run, RunReport, RunState } from '../../../../src/model/run.ts'
import type { StoredRun } from '../../../../src/ports/run-store.ts'
import type { Posted } from '../recorded.ts'
import { type Flat, ownSums, total, without } from './roll-up-oracle.ts'

/** Sums of a session and of its users, by source. */
export interface SourceSums {
  readonly application: Flat
  readonly agent: Flat
  readonly users: Flat
}

interface Shown {
  readonly run: Run
  readonly state: RunState
  readonly top: true | 'agent' | undefined
  /** Sums of the times that the application reported. */
  readonly times: Flat
}

/** Sums of a run and what is below it, with the spend that users own in it. */
interface Subtree {
  readonly sums: Flat
  readonly users: Flat
}

/**
 * The sums that the rules of two sources give, from the runs and the order of their posts alone: those of each source are followed
 * upwards by themselves.
 */
export function expectedSourceSums(runs: readonly StoredRun[], posts: readonly Posted[]): SourceSums {
  const tops = topsOf(posts)
  const shown: readonly Shown[] = runs.map((stored) => ({
    run: viewRun(stored),
    state: stored.state,
    top: tops.get(stored.state.runId),
    times: timesOfApplication(stored),
  }))
  const application = sumsOf(shown, ({ top, state }) => top !== true && state.application?.parentRunId, ofApplication)
  const agent = sumsOf(shown, ({ top, run }) => top === undefined && run.parentRunId, ofAgent)
  return { application: application.sums, agent: agent.sums, users: total([application.users, agent.users]) }
}

/**
 * The runs whose amounts would come back to them: of both sources, or only of agents. A run is asked when its parent changes, or the
 * source that names it.
 */
function topsOf(posts: readonly Posted[]): ReadonlyMap<string, true | 'agent'> {
  const parents = new Map<string, { application?: string | undefined; agent?: string | undefined }>()
  const tops = new Map<string, true | 'agent'>()
  const ofApplication = (runId: string) => (tops.get(runId) === true ? undefined : parents.get(runId)?.application)
  const ofAgent = (runId: string) => (tops.has(runId) ? undefined : shownOf(runId))
  const shownOf = (runId: string) => parents.get(runId)?.application ?? parents.get(runId)?.agent
  const returns = (start: string, first: string | undefined, next: (runId: string) => string | undefined): boolean => {
    let at = first
    for (let steps = 0; at !== undefined && at !== start && steps < posts.length; steps++) at = next(at)
    return at === start
  }
  for (const { update, source } of posts) {
    const { runId, parentRunId } = update
    const before = parents.get(runId) ?? {}
    if (parentRunId === undefined || before[source] !== undefined) {
      parents.set(runId, before)
      continue
    }
    const [shownBefore, namedBefore] = [shownOf(runId), before.application]
    const named = { ...before, [source]: parentRunId }
    parents.set(runId, named)
    if (shownOf(runId) === shownBefore && named.application === namedBefore) continue
    tops.delete(runId)
    if (returns(runId, named.application, ofApplication)) tops.set(runId, true)
    else if (returns(runId, shownOf(runId), ofAgent)) tops.set(runId, named.application === undefined ? true : 'agent')
  }
  return tops
}

const isTime = (path: string): boolean => /^(time|durations|firstTokens)\//.test(path)

function partOf(sums: Flat, isIn: (path: string) => boolean): Flat {
  return Object.fromEntries(Object.entries(sums).filter(([path]) => isIn(path)))
}

function timesOfApplication({ state, ...stored }: StoredRun): Flat {
  const { runId, sessionId, application } = state
  if (!application) return {}
  return partOf(ownSums(viewRun({ ...stored, state: { runId, sessionId, application } })), isTime)
}

/** The times that a run shows and its application did not report; a histogram has one bucket of a run. */
function timesOfAgent({ run, times }: Shown): Flat {
  const known = Object.keys(times)
  const isKnown = (path: string): boolean =>
    path.startsWith('time/') ? known.includes(path) : known.some((each) => each.split('/')[0] === path.split('/')[0])
  return partOf(ownSums(run), (path) => isTime(path) && !isKnown(path))
}

const ownAmounts = (run: Run): Flat => partOf(ownSums(run), (path) => !isTime(path))

/** @param parentOf The parent that amounts of the source go up to. */
function sumsOf(
  shown: readonly Shown[],
  parentOf: (one: Shown) => string | false | undefined,
  withOwn: (one: Shown, below: Subtree) => Subtree,
): Subtree {
  const ids = new Set(shown.map(({ run }) => run.runId))
  const subtree = (one: Shown): Subtree =>
    withOwn(one, joined(shown.filter((child) => parentOf(child) === one.run.runId).map(subtree)))
  return joined(shown.filter((one) => !ids.has(parentOf(one) || '')).map(subtree))
}

function joined(parts: readonly Subtree[]): Subtree {
  return { sums: total(parts.map(({ sums }) => sums)), users: total(parts.map(({ users }) => users)) }
}

function ofApplication({ run, state, times }: Shown, below: Subtree): Subtree {
  const isOwn = !isMeteredByAgent(state)
  const left = isOwn && run.countsScope === 'tree' ? without(below.sums, run) : below.sums
  const sums = total([left, isOwn ? ownAmounts(run) : {}, times])
  const user = userOf(state.application)
  return { sums, users: user === undefined ? below.users : spendOf(user, sums) }
}

function ofAgent(one: Shown, below: Subtree): Subtree {
  const { run, state } = one
  const isOwn = isMeteredByAgent(state)
  const user = userOf(isOwn ? state.agent : state.application)
  let { sums, users } = below
  if (run.countsScope === 'tree') {
    sums = withoutStrictly(sums, run)
    if (user !== undefined) users = withoutOfUser(users, user, run)
  }
  const own = isOwn ? ownAmounts(run) : {}
  if (isOwn && user !== undefined) users = total([users, spendOf(user, own)])
  return { sums: total([sums, own, state.agent ? timesOfAgent(one) : {}]), users }
}

function meters(report: RunReport | undefined): boolean {
  if (!report) return false
  const { cost, usageByModel } = report.latest
  return Object.keys(report.counts).length > 0 || cost !== undefined || usageByModel !== undefined
}

/** An agent's amounts count until an application reports one; without amounts, a run is the agent's if its model is. */
export function isMeteredByAgent({ application, agent }: RunState): boolean {
  if (!agent || meters(application)) return false
  if (!application || meters(agent)) return true
  return ['provider', 'model', 'responseModel'].some((path) => path in agent.latest && !(path in application.latest))
}

function userOf(report: RunReport | undefined): string | undefined {
  return report?.latest.userId as string | undefined
}

function spendOf(user: string, sums: Flat): Flat {
  const spent = Object.entries(sums).filter(([path]) => path.startsWith('spend/'))
  return Object.fromEntries(spent.map(([path, sum]) => [`${user}/${path}`, sum]))
}

/** As `without`, but nothing becomes negative. */
function withoutStrictly(sums: Flat, run: Run): Flat {
  const left = without(sums, run)
  const covers = run.cost !== undefined || tokensAreKnown(run)
  return { ...left, 'spend/unpricedTokens': covers ? 0n : (sums['spend/unpricedTokens'] ?? 0n) }
}

function tokensAreKnown({ counts = {} }: Run): boolean {
  return ['inputTokens', 'outputTokens', 'totalTokens'].some((name) => name in counts)
}

function withoutOfUser(users: Flat, user: string, run: Run): Flat {
  const prefix = `${user}/`
  const own = Object.entries(users).filter(([path]) => path.startsWith(prefix))
  const left = withoutStrictly(Object.fromEntries(own.map(([path, sum]) => [path.slice(prefix.length), sum])), run)
  const others = Object.entries(users).filter(([path]) => !path.startsWith(prefix))
  return Object.fromEntries([
    ...others,
    ...Object.entries(left).map(([path, sum]) => [`${user}/${path}`, sum] as const),
  ])
}

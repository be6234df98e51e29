import type { JsonValue } from './json.ts'
import type { RunReport, RunSource, RunState } from './run.ts'
import { statusSource } from './run-status.ts'
import { isEmpty } from './totals.ts'

/** Registers that state an amount. With the counts, they come from one source. */
const AMOUNTS: readonly string[] = ['cost', 'usageByModel', 'usageDoubt', 'countsScope', 'serviceTier']
/** Registers that the price of an amount depends on. */
const MODELS: readonly string[] = ['provider', 'model', 'responseModel']
/** Registers of {@link meteringSource}. */
export const METERING: ReadonlySet<string> = new Set([...AMOUNTS, ...MODELS])

/** Fields of a run that are set once. */
export const ONCE = ['parentRunId', 'resumedFromRunId', 'attempt'] as const

/** True if a report states an amount: a count, usage by model, or a cost. */
export function hasMetered(report: RunReport | undefined): boolean {
  if (report === undefined) return false
  const { counts, latest } = report
  const { cost, usageByModel } = latest
  return !isEmpty(counts) || cost !== undefined || usageByModel !== undefined
}

/** True if a report names a model or its provider. */
export function namesModel({ latest }: RunReport): boolean {
  return MODELS.some((path) => path in latest)
}

/**
 * The source whose amounts a run has: the application's once it reported one. Amounts of an agent, and names of models that only an
 * agent reported, are added to the agents' sums.
 */
export function meteringSource(state: RunState): RunSource {
  const { application, agent } = state
  if (agent === undefined || hasMetered(application)) return 'application'
  if (application === undefined || hasMetered(agent)) return 'agent'
  return MODELS.some((path) => path in agent.latest && !(path in application.latest)) ? 'agent' : 'application'
}

const SHOWN = new WeakMap<RunState, RunReport>()
const NOTHING: RunReport = Object.freeze({
  seq: -1,
  earliest: {},
  counts: {},
  final: {},
  latest: {},
  metadata: {},
  tags: [],
})

/**
 * Combines what both sources reported to what a run shows. A field has the application's value if it has one. The fields of an end
 * belong to the source of the status; amounts come from one source ({@link meteringSource}).
 */
export function shownReport(state: RunState): RunReport {
  const { application, agent } = state
  if (application === undefined || agent === undefined) return application ?? agent ?? NOTHING
  const known = SHOWN.get(state)
  if (known) return known
  const shown = combine(application, agent, state)
  SHOWN.set(state, shown)
  return shown
}

function combine(application: RunReport, agent: RunReport, state: RunState): RunReport {
  const { status, final, finalWith } = state[statusSource(state) ?? 'application'] ?? application
  const { counts, clearCounts } = hasMetered(application) ? application : agent
  return {
    ...setOnce(agent),
    ...setOnce(application),
    ...(status !== undefined && { status }),
    seq: application.seq >= 0 ? application.seq : agent.seq,
    earliest: shownTimes(application, agent, state),
    counts,
    ...(clearCounts && { clearCounts }),
    final,
    ...(finalWith && { finalWith }),
    latest: shownRegisters(application, agent),
    metadata: { ...agent.metadata, ...application.metadata },
    tags: application.tags.length > 0 ? application.tags : agent.tags,
    ...((application.by ?? agent.by) && { by: [...new Set([...(application.by ?? []), ...(agent.by ?? [])])].sort() }),
  }
}

function setOnce(report: RunReport): Pick<RunReport, (typeof ONCE)[number]> {
  return Object.fromEntries(ONCE.filter((field) => report[field] !== undefined).map((field) => [field, report[field]]))
}

/** Instants of an agent after the application's end are not shown: the end would be clamped to them. */
function shownTimes(application: RunReport, agent: RunReport, state: RunState): RunReport['earliest'] {
  const endedAt = statusSource(state) === 'application' ? application.final.endedAt : undefined
  if (endedAt === undefined) return { ...agent.earliest, ...application.earliest }
  const fit = Object.entries(agent.earliest).filter(([, instant]) => instant <= endedAt)
  return { ...Object.fromEntries(fit), ...application.earliest }
}

function shownRegisters(application: RunReport, agent: RunReport): RunReport['latest'] {
  const latest: Record<string, JsonValue> = {}
  const isMetered = hasMetered(application)
  const isMeteredByAgent = !isMetered && hasMetered(agent)
  for (const [path, value] of Object.entries(agent.latest)) if (!isMetered || !METERING.has(path)) latest[path] = value
  for (const [path, value] of Object.entries(application.latest))
    if (!isMeteredByAgent || !AMOUNTS.includes(path)) latest[path] = value
  return latest
}

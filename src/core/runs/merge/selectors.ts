import { writeInstant } from '../../../model/instants.ts'
import { copyJson, type JsonObject } from '../../../model/json.ts'
import { pointerTo } from '../../../model/json-pointer.ts'
import type {
  AnsweredRun,
  DerivedRunData,
  ModelUsage,
  Run,
  RunAgent,
  RunCost,
  RunError,
  RunReport,
  RunState,
  RunTimings,
  WaitingFor,
} from '../../../model/run.ts'
import { meteringSource, namesModel, ONCE, shownReport } from '../../../model/shown-run.ts'
import { EMPTY, named } from '../../../model/totals.ts'
import type { StoredRun } from '../../../ports/run-store.ts'
import { isSame, reportedWith } from './last-writer-wins.ts'

interface Latest {
  readonly provider: string
  readonly model: string
  readonly responseModel: string
  readonly serviceTier: string
  readonly countsScope: NonNullable<Run['countsScope']>
  readonly waitingFor: WaitingFor
  readonly userId: string
  readonly environment: string
  readonly 'agent.id': string
  readonly 'agent.name': string
  readonly 'agent.version': string
  readonly 'timings.activeMs': number
  readonly 'timings.modelMs': number
  readonly 'timings.toolMs': number
  readonly 'timings.timeToFirstTokenMs': number
  readonly trace: NonNullable<Run['trace']>
  readonly cost: RunCost
  readonly usageByModel: readonly ModelUsage[]
  readonly usageDoubt: boolean
}

const INSTANTS = ['queuedAt', 'startedAt', 'firstTokenAt'] as const
/** Fields of a run that are a register each. */
export const FIELDS = [
  'provider',
  'model',
  'responseModel',
  'serviceTier',
  'countsScope',
  'userId',
  'environment',
] as const
/** Members of the agent that are a register each, with its path. */
const AGENT_FIELDS = [
  ['id', 'agent.id'],
  ['name', 'agent.name'],
  ['version', 'agent.version'],
] as const
/** Members of the timings that are a register each, with its path. */
const DURATIONS = [
  ['activeMs', 'timings.activeMs'],
  ['modelMs', 'timings.modelMs'],
  ['toolMs', 'timings.toolMs'],
  ['timeToFirstTokenMs', 'timings.timeToFirstTokenMs'],
] as const

interface Final {
  readonly endedAt: number
  readonly durationMs: number
  readonly error: RunError
  readonly finishReason: string
}

/** Only `toRunReport` writes registers, so each path has one type. */
export function latestOf<Path extends keyof Latest>({ latest }: RunReport, path: Path): Latest[Path] | undefined {
  return latest[path] as Latest[Path] | undefined
}

/** True if counts of the report may be wrong: those of its last posts are in doubt, or those of an earlier post that none has reached since. */
export function isInDoubt(report: RunReport): boolean {
  return latestOf(report, 'usageDoubt') === true || report.clearCounts !== undefined
}

/** The user who owns amounts of applications in a run and below it. */
export function applicationUser({ application }: RunState): string | undefined {
  return application && latestOf(application, 'userId')
}

/** The user who owns amounts of agents in a run, and no others. */
export function agentUser({ agent }: RunState): string | undefined {
  return agent && latestOf(agent, 'userId')
}

/** Selects a final field of the report's status; `undefined` when the field was posted with another status. */
export function finalOf<Field extends keyof Final>(report: RunReport, field: Field): Final[Field] | undefined {
  const isOther = report.finalWith !== undefined && reportedWith(report, field).status !== report.status
  return isOther ? undefined : (report.final[field] as Final[Field] | undefined)
}

/** True if the end is before the start; the view then shows the start for both. */
export function endsBeforeStart(report: RunReport): boolean {
  const { startedAt = 0 } = report.earliest
  const endedAt = finalOf(report, 'endedAt') ?? startedAt
  return endedAt < startedAt
}

/** Cost of a run: as posted, or else as calculated. */
export function costOf(report: RunReport, { cost }: Pick<DerivedRunData, 'cost'>): RunCost | undefined {
  return latestOf(report, 'cost') ?? cost
}

/** Never before the start of the run. */
function endedAtOf(report: RunReport): number | undefined {
  return endsBeforeStart(report) ? report.earliest.startedAt : finalOf(report, 'endedAt')
}

/** Duration of an ended run in milliseconds: as posted, or else from start to end. */
export function durationOf(report: RunReport): number | undefined {
  const reported = finalOf(report, 'durationMs')
  const { startedAt } = report.earliest
  if (reported !== undefined || startedAt === undefined) return reported
  const endedAt = endedAtOf(report)
  return endedAt === undefined ? undefined : endedAt - startedAt
}

type Draft<T> = { -readonly [Field in keyof T]: T[Field] }

/** Converts a stored run to its public view. Shares nothing with it. */
export function viewRun({ state, derived, createdAt, updatedAt, lastSeenAt, revision }: StoredRun): Run {
  const created = writeInstant(createdAt)
  const report = shownReport(state)
  const run: Draft<Run> = {
    runId: state.runId,
    sessionId: state.sessionId,
    status: 'running',
    createdAt: created,
    updatedAt: updatedAt === createdAt ? created : writeInstant(updatedAt),
    lastSeenAt: lastSeenAt === createdAt ? created : writeInstant(lastSeenAt),
    revision,
  }
  addReport(run, report, derived)
  if (state.agent !== undefined) show(run, 'byAgent', reportedByAgent(run, state, derived))
  if (report.by !== undefined) run.by = [...report.by]
  return run
}

/** Lists what a run shows and would not show, or not so, without its agents' posts: a comparison with the application's view. */
function reportedByAgent(run: Run, state: RunState, derived: DerivedRunData): Run['byAgent'] {
  const { runId, sessionId, createdAt, updatedAt, lastSeenAt, revision } = run
  const alone: Partial<Draft<Run>> = { runId, sessionId, createdAt, updatedAt, lastSeenAt, revision }
  const { application } = state
  if (application) addReport(alone, application, meteringSource(state) === 'application' ? derived : {})
  const pointers: string[] = []
  addDifferences(pointers, run, alone)
  return pointers.length > 0 ? pointers : undefined
}

/** Fields that have members of both sources. All others come whole from one. */
const SHARED: readonly string[] = ['agent', 'timings', 'metadata'] satisfies readonly (keyof Run)[]

/** Adds JSON pointers to the values of `shown` that `alone` lacks or has otherwise. */
function addDifferences(pointers: string[], shown: object, alone: object = EMPTY, parent = ''): void {
  for (const [name, value] of Object.entries(shown)) {
    const other = named(alone as JsonObject, name)
    if (parent === '' && SHARED.includes(name)) addDifferences(pointers, value, other as JsonObject, `/${name}`)
    else if (!isSame(value, other)) pointers.push(pointerTo(parent, name))
  }
}

/** Converts what agents reported, as they see it: nothing that an application reported, or that depends on it. */
export function viewAgentRun({ state, derived }: StoredRun): AnsweredRun {
  const { runId, sessionId, agent } = state
  const run: Draft<AnsweredRun> = { runId, sessionId, status: 'running' }
  if (agent) addReport(run, agent, isPricedByAgent(state) ? derived : {})
  return run
}

/** True if the price of a run depends on what agents reported alone, so that an agent may see it. */
export function isPricedByAgent(state: RunState): boolean {
  const { application } = state
  return meteringSource(state) === 'agent' && !(application && namesModel(application))
}

function addReport(
  run: Partial<Draft<Run>>,
  report: RunReport,
  derived: Pick<DerivedRunData, 'cost' | 'shares'>,
): void {
  run.status = report.status ?? 'running'
  const { seq, tags } = report
  if (seq >= 0) run.seq = seq
  for (const field of ONCE) show(run, field, report[field])
  for (const field of FIELDS) show(run, field, latestOf(report, field))
  show(run, 'agent', viewAgent(report))
  show(run, 'timings', viewTimings(report))
  show(run, 'counts', filled({ ...report.counts }))
  show(run, 'usageByModel', viewUsage(report, derived))
  if (isInDoubt(report)) run.usageDoubt = true
  show(run, 'cost', copied<RunCost>(costOf(report, derived)))
  show(run, 'finishReason', finalOf(report, 'finishReason'))
  if (run.status === 'waiting') show(run, 'waitingFor', latestOf(report, 'waitingFor'))
  show(run, 'error', copied<RunError>(finalOf(report, 'error')))
  show(run, 'trace', copied<NonNullable<Run['trace']>>(latestOf(report, 'trace')))
  if (tags.length > 0) run.tags = [...tags]
  show(run, 'metadata', viewMetadata(report))
}

function viewUsage(report: RunReport, { shares }: Pick<DerivedRunData, 'shares'>): Run['usageByModel'] {
  const usage = copied<readonly ModelUsage[]>(latestOf(report, 'usageByModel'))
  return usage?.map((share, index) => {
    const cost = share.cost ?? copied(shares?.[index])
    return cost === undefined ? share : { ...share, cost }
  })
}

function viewAgent(report: RunReport): RunAgent | undefined {
  const agent: Draft<RunAgent> = {}
  for (const [name, path] of AGENT_FIELDS) show(agent, name, latestOf(report, path))
  return filled(agent)
}

function viewTimings(report: RunReport): RunTimings<string> | undefined {
  const timings: Draft<RunTimings<string>> = {}
  for (const name of INSTANTS) show(timings, name, written(report.earliest[name]))
  show(timings, 'endedAt', written(endedAtOf(report)))
  show(timings, 'durationMs', durationOf(report))
  for (const [name, path] of DURATIONS) show(timings, name, latestOf(report, path))
  return filled(timings)
}

function written(instant: number | undefined): string | undefined {
  return instant === undefined ? undefined : writeInstant(instant)
}

function viewMetadata({ metadata }: RunReport): Run['metadata'] {
  const shown: Record<string, string | number | boolean> = {}
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (value !== undefined && value !== null) shown[key] = value
  }
  return filled(shown)
}

function show<T, Field extends keyof T>(on: T, field: Field, value: T[Field] | undefined): void {
  if (value !== undefined) on[field] = value
}

function filled<T extends object>(value: T): T | undefined {
  for (const _ in value) return value
  return undefined
}

function copied<T>(value: T | undefined): T | undefined {
  return value === undefined ? undefined : (copyJson(value) as T)
}

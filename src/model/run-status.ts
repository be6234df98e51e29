import type { EndStatus, ReportedEnd, RunSource, RunState, RunStatus } from './run.ts'

/** Precedence of a status: by class, then `seq`, then rank. No two have the same class and rank. */
interface Precedence {
  /** 0: open. 1: expired. 2: final. */
  readonly class: 0 | 1 | 2
  readonly rank: number
}

const PRECEDENCE: Readonly<Record<RunStatus, Precedence>> = {
  queued: { class: 0, rank: 0 },
  running: { class: 0, rank: 1 },
  waiting: { class: 0, rank: 2 },
  expired: { class: 1, rank: 0 },
  completed: { class: 2, rank: 0 },
  incomplete: { class: 2, rank: 1 },
  failed: { class: 2, rank: 2 },
  cancelled: { class: 2, rank: 3 },
}

/** The status of an end, without the source that reported it. */
export function statusOfEnd(end: ReportedEnd): EndStatus {
  return (sourceOfEnd(end) === 'agent' ? end.slice(BY_AGENT.length) : end) as EndStatus
}

/** The source that reported an end. */
export function sourceOfEnd(end: ReportedEnd): RunSource {
  return end.startsWith(BY_AGENT) ? 'agent' : 'application'
}

const BY_AGENT = 'agent:'

/** True if the run is final or expired: only a final status can follow. */
export function hasEnded(status: RunStatus): status is EndStatus {
  return PRECEDENCE[status].class > 0
}

/** True if the status is final: only another final status replaces it, of a greater `seq`, or of the same `seq` and a higher rank. */
export function isFinal(status: RunStatus): boolean {
  return PRECEDENCE[status].class === 2
}

/** Above 0: the first wins; below 0: the second; 0: they are equal. */
export function compareStatus(a: RunStatus, aSeq: number, b: RunStatus, bSeq: number): number {
  return compareClass(a, b) || aSeq - bSeq || PRECEDENCE[a].rank - PRECEDENCE[b].rank
}

function compareClass(a: RunStatus, b: RunStatus): number {
  return PRECEDENCE[a].class - PRECEDENCE[b].class
}

/** The source of the shown status: the greater class wins, then the application. `undefined`: no post stated one. */
export function statusSource({ application, agent }: RunState): RunSource | undefined {
  const [mine, theirs] = [application?.status, agent?.status]
  if (theirs === undefined) return mine && 'application'
  return mine === undefined || compareClass(theirs, mine) > 0 ? 'agent' : 'application'
}

/** The status that a run shows; `running` until a post states one. */
export function statusOfRun(state: RunState): RunStatus {
  const source = statusSource(state)
  return (source && state[source]?.status) ?? 'running'
}

import type { EndStatus, RunState, RunStatus } from '../../../model/run.ts'

/** The precedence of a status: by class, then `seq`, then rank. No two have the same class and rank. */
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

type ClientStatus = Exclude<RunStatus, 'expired'>

/** Names that other systems use. Compared in lower case, with `_` for `-` and spaces. */
const ALIASES: Readonly<Record<ClientStatus, readonly string[]>> = {
  queued: ['pending', 'submitted', 'scheduled', 'delayed', 'dequeued'],
  running: ['in_progress', 'working', 'executing', 'started', 'cancelling', 'canceling'],
  waiting: ['requires_action', 'input_required', 'auth_required', 'suspended', 'paused'],
  completed: ['complete', 'success', 'succeeded', 'ok', 'done'],
  incomplete: [],
  failed: ['error', 'errored', 'failure', 'crashed', 'system_failure', 'timeout', 'timed_out'],
  cancelled: ['canceled', 'aborted'],
}

/** The statuses that a caller may send by their own name. */
export const CLIENT_STATUSES: readonly ClientStatus[] = Object.keys(ALIASES) as ClientStatus[]

const BY_NAME: ReadonlyMap<string, ClientStatus> = new Map(
  CLIENT_STATUSES.flatMap((status) =>
    [status, ...ALIASES[status]].map((name): [string, ClientStatus] => [name, status]),
  ),
)

const TIMEOUTS: ReadonlySet<string> = new Set(['timeout', 'timed_out'])

/** Gives the status for a name or alias; `undefined` when a caller may not send it. */
export function statusNamed(name: string): ClientStatus | undefined {
  return BY_NAME.get(name) ?? BY_NAME.get(plainName(name))
}

/** Whether a name means that the run failed by a time-out. */
export function saysTimeout(name: string): boolean {
  return TIMEOUTS.has(plainName(name))
}

/** The status of a run; `running` until a post states one. */
export function statusOfRun({ status = 'running' }: RunState): RunStatus {
  return status
}

/** Whether the run is final or expired: only a final status can follow. */
export function hasEnded(status: RunStatus): status is EndStatus {
  return PRECEDENCE[status].class > 0
}

/** Whether the status is final: only another final status, of a later post, replaces it. */
export function isFinal(status: RunStatus): boolean {
  return PRECEDENCE[status].class === 2
}

/** Compares two posted statuses: above 0 the first wins, below 0 the second, 0: they are the same. */
export function compareStatus(a: RunStatus, aSeq: number, b: RunStatus, bSeq: number): number {
  const first = PRECEDENCE[a]
  const second = PRECEDENCE[b]
  return first.class - second.class || aSeq - bSeq || first.rank - second.rank
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[- ]/g, '_')
}

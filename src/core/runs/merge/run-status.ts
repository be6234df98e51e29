import type { EndStatus, RunState, RunStatus } from '../../../model/run.ts'

/** Where a status stands: first by class, then by `seq`, then by rank. No two have the same class and rank. */
interface Standing {
  /** 0: may go on. 1: expired. 2: final. */
  readonly class: 0 | 1 | 2
  readonly rank: number
}

const STANDINGS: Readonly<Record<RunStatus, Standing>> = {
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

/** What other systems call it. Compared in lower case, with `_` for `-` and spaces. */
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

/** The status that a name means; `undefined` when it means none that a caller may send. */
export function statusNamed(name: string): ClientStatus | undefined {
  return BY_NAME.get(name) ?? BY_NAME.get(plainName(name))
}

/** Whether a name says that the run failed because it took too long. */
export function saysTimeout(name: string): boolean {
  return TIMEOUTS.has(plainName(name))
}

/** The status of a run: `running`, until a post says otherwise. */
export function statusOfRun({ status = 'running' }: RunState): RunStatus {
  return status
}

/** Whether nothing but a final status can follow. */
export function hasEnded(status: RunStatus): status is EndStatus {
  return STANDINGS[status].class > 0
}

/** Whether nothing can follow: only another final status, of a later post, replaces it. */
export function isFinal(status: RunStatus): boolean {
  return STANDINGS[status].class === 2
}

/** Which of two posted statuses is the run's: above 0 the first, below 0 the second, 0: they are the same. */
export function compareStatus(a: RunStatus, aSeq: number, b: RunStatus, bSeq: number): number {
  const first = STANDINGS[a]
  const second = STANDINGS[b]
  return first.class - second.class || aSeq - bSeq || first.rank - second.rank
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[- ]/g, '_')
}

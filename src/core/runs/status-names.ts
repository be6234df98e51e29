import type { RunStatus } from '../../model/run.ts'

type ClientStatus = Exclude<RunStatus, 'expired'>

/** Names in other systems. Compared in lower case, with `_` for `-` and spaces. */
const ALIASES: Readonly<Record<ClientStatus, readonly string[]>> = {
  queued: ['pending', 'submitted', 'scheduled', 'delayed', 'dequeued'],
  running: ['in_progress', 'working', 'executing', 'started', 'cancelling', 'canceling'],
  waiting: ['requires_action', 'input_required', 'auth_required', 'suspended', 'paused'],
  completed: ['complete', 'success', 'succeeded', 'ok', 'done'],
  incomplete: [],
  failed: ['error', 'errored', 'failure', 'crashed', 'system_failure', 'timeout', 'timed_out'],
  cancelled: ['canceled', 'aborted'],
}

/** Statuses that a caller may send by their own name. */
export const CLIENT_STATUSES: readonly ClientStatus[] = Object.keys(ALIASES) as ClientStatus[]

const BY_NAME: ReadonlyMap<string, ClientStatus> = new Map(
  CLIENT_STATUSES.flatMap((status) =>
    [status, ...ALIASES[status]].map((name): [string, ClientStatus] => [name, status]),
  ),
)

const TIMEOUTS: ReadonlySet<string> = new Set(['timeout', 'timed_out'])

export function statusNamed(name: string): ClientStatus | undefined {
  return BY_NAME.get(name) ?? BY_NAME.get(plainName(name))
}

export function saysTimeout(name: string): boolean {
  return TIMEOUTS.has(plainName(name))
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[- ]/g, '_')
}

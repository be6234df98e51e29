import type { RunStatus } from '../../model/run.ts'

const OPEN: ReadonlySet<RunStatus> = new Set<RunStatus>(['queued', 'running', 'waiting'])

/** Whether a run of that status has not ended. */
export function isOpenRun(status: RunStatus): boolean {
  return OPEN.has(status)
}

import type { RunStatus } from '../../model/run.ts'
import type { RemovalQuery } from '../../ports/run-store.ts'
import { fullTotals } from './run-fixtures.ts'
import type { RunStoreCase } from './run-harness.ts'

const HOUR = 3_600_000
const _ALL: readonly RunStatus[] = [
  'queued',
  'running',
  'waiting',
  'completed',
  'incomplete',
  'failed',
  'cancelled',
  'expired',
]

function _queryOf(more: Partial<RemovalQuery> = {}): RemovalQuery {
  return { status: ['completed'], unchangedForMs: HOUR, limit: 100, ...more }
}

const _ADD = fullTotals('u', 1, '0.1')
const _OF_USER = { latest: { userId: 'u' } }

/** Which runs a removal takes, and what it leaves. */
export const erasureCases: readonly RunStoreCase[] = []

import type { CallAction } from '../../core/actions/call-action.ts'
import type { ReadStatistics } from './read-statistics.ts'

export const STATISTICS_ACTIONS: readonly CallAction<ReadStatistics>[] = [
  {
    name: 'get_statistics',
    operation: 'read',
    method: 'GET',
    path: '/api/outbound/stats',
    maxBytes: 0,
    query: { window: 'duration', step: 'duration' },
    renamed: { windowMs: 'window', stepMs: 'step' },
    call: (stats, options: NonNullable<Parameters<ReadStatistics>[0]>) => stats(options),
  },
]

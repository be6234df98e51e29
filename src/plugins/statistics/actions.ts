import type { CallAction } from '../../core/actions/call-action.ts'
import { type Only, READ } from '../../core/actions/row-parts.ts'
import type { ReadStatistics } from './read-statistics.ts'

export const STATISTICS_ACTIONS: readonly CallAction<ReadStatistics>[] = [
  {
    name: 'get_statistics',
    ...READ,
    path: '/api/outbound/stats',
    query: { window: 'duration', step: 'duration' },
    renamed: { windowMs: 'window', stepMs: 'step' },
    call: (stats, options: Only<ReadStatistics>) => stats(options),
  },
]

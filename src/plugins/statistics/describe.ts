import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { statistics } from '../../openapi/operating-schemas.ts'
import { STATISTICS_ACTIONS } from './actions.ts'

const DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  get_statistics: {
    operationId: 'getStatistics',
    summary: 'Read statistics',
    tag: 'outbound',
    about:
      'What all processes did, in buckets of equal length up to now, what is due, and how many workers are alive. Counts of the last seconds may be missing.',
    answer: statistics,
  },
}

/** Endpoints of `statistics`, with their texts and answers. Only the OpenAPI document and tests import them. */
export const STATISTICS_ENDPOINTS: DescribedEndpoints = { calls: STATISTICS_ACTIONS, descriptions: DESCRIPTIONS }

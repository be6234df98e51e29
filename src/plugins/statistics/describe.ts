import type { CallDescription } from '../../openapi/call-operations.ts'
import { statistics } from '../../openapi/operating-schemas.ts'

/** Texts and answers of {@link STATISTICS_ACTIONS}, by their names. Only the OpenAPI document and tests import them. */
export const STATISTICS_DESCRIPTIONS: Readonly<Record<string, CallDescription>> = {
  get_statistics: {
    operationId: 'getStatistics',
    summary: 'Read statistics',
    tag: 'outbound',
    about:
      'What all processes did, in buckets of equal length up to now, what is due, and how many workers are alive. Counts of the last seconds may be missing.',
    answer: statistics,
  },
}

import type { DueNow, Latency, Statistics, StatisticsBucket } from '../../model/statistics.ts'
import { amounts } from '../../openapi/amount-schemas.ts'
import type { CallDescription } from '../../openapi/call-operations.ts'
import type { DescribedEndpoints } from '../../openapi/described-endpoints.ts'
import { type BodySchema, s } from '../../openapi/model-schema.ts'
import { STATISTICS_ACTIONS } from './actions.ts'

const latency = s.object<Latency>('Latency', 'Milliseconds, within 1.6 % of the exact value.', {
  p50: s.whole(0),
  p95: s.whole(0),
  p99: s.whole(0),
})

const bucket = s.object<StatisticsBucket>('StatisticsBucket', 'What happened in one step.', {
  startsAt: s.instant(),
  accepted: s.whole(0, 'Accepted dispatches.'),
  sent: s.whole(0, 'Deliveries that a provider accepted.'),
  retried: s.whole(0, 'Attempts after which a delivery was queued again.'),
  failed: s.map(s.whole(0), 'Failed deliveries by reason; `expired` for those past their expiry.'),
  skipped: s.map(s.whole(0), 'Skipped deliveries by reason.'),
  latencyMs: s.optional(latency),
  runs: s.whole(0, 'Runs that were first recorded.'),
  ended: { json: s.map(s.whole(0), 'Runs by the status with which they first ended.').json },
  byApplication: amounts,
  byAgent: amounts,
})

const dueNow = s.object<DueNow>('DueNow', 'Deliveries that are due and not yet claimed.', {
  count: s.whole(0, 'Counted up to 10,000.'),
  isMore: s.flag('`true`: there may be more.'),
  oldestMs: s.optional(s.whole(0, 'Milliseconds since the oldest one was due. Absent: none is due.')),
})

const statistics: BodySchema = s.object<Statistics>('Statistics', 'What all processes did, and what is due.', {
  windowMs: s.whole(60_000),
  stepMs: s.whole(60_000),
  buckets: s.list(bucket, 'Oldest first, without gaps. The last one contains the present.'),
  due: s.optional(dueNow),
  workersAlive: s.whole(0, 'Workers with a heartbeat in the last 30 seconds.'),
})

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

import type { ChannelLimits, WorkerOptions } from '../core/delivery/worker-options.ts'
import { recordOf, whole } from '../options/checks.ts'
import { type Checks, nested, required } from '../options/read-options.ts'

const HOUR_MS = 3_600_000

const LIMITS: Checks<ChannelLimits> = {
  concurrency: whole(1, 1_000),
  perReceiver: whole(1, 1_000),
  rate: nested<NonNullable<ChannelLimits['rate']>>({
    max: required(whole(1, 1_000_000)),
    perMs: required(whole(1, HOUR_MS)),
  }),
}

/** The options of the worker. */
export const WORKER: Checks<WorkerOptions> = {
  ...LIMITS,
  channels: recordOf(nested(LIMITS)),
  leaseMs: whole(1_000, HOUR_MS),
  sendTimeoutMs: whole(100, HOUR_MS),
  pollMs: whole(10, HOUR_MS),
}

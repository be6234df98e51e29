import { decoded } from '../json-values.ts'
import type { JobRecord } from './dispatch-records.ts'

/** A lease of a claim. */
export interface Lease {
  readonly fence: string
  readonly leaseMs: number
  readonly now: number
}

/** The job after a claim. Past its expiry it is leased without an attempt: the claim ends it. */
export function leasedJob(before: JobRecord, { fence, leaseMs, now }: Lease): JobRecord {
  const lease = { wake_at: now + Math.ceil(leaseMs), waits_for: null, fence, version: before.version + 1 }
  if (before.expires_at <= now) return { ...before, ...lease }
  const attempt = before.attempt + 1
  const begun = decoded(before.begun)
  return { ...before, ...lease, attempt, begun: begun ? [...begun, { attempt, startedAt: now }] : before.begun }
}

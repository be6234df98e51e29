import type { Dialect } from '../connection/dialects.ts'
import type { DeliveryRecord } from '../schema/records.ts'

/** What a claim sets of a delivery `d` that it leases. */
export function leaseSets({ concat }: Dialect, now: string, leaseMs: string, fence: string): string {
  const begun = [`'{"attempt":'`, '(d.attempts + 1)', `',"startedAt":'`, now, `'},'`]
  // The number of attempts is set last, since one of these databases goes by what is set already.
  return `status = 'sending', reason = null, wake_at = ${now} + ${leaseMs}, fence = ${fence},
    attempt_log = ${concat('d.attempt_log', ...begun)}, open_key = null, version = d.version + 1, attempts = d.attempts + 1`
}

/** What a claim gives to all that it leases. */
export interface LeaseParameters {
  readonly fence: string
  readonly leaseMs: number
  /** When it began, by the database's clock. */
  readonly now: number
}

/** A delivery that is leased, as the statement leaves it. */
export function leasedRecord(before: DeliveryRecord, { fence, leaseMs, now }: LeaseParameters): DeliveryRecord {
  const attempts = before.attempts + 1
  return {
    ...before,
    status: 'sending',
    reason: null,
    wake_at: now + leaseMs,
    fence,
    attempt_log: `${before.attempt_log}{"attempt":${attempts},"startedAt":${now}},`,
    open_key: null,
    version: before.version + 1,
    attempts,
  }
}

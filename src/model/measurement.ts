import type { DeliveryReason } from './dispatch.ts'
import type { RunStatus } from './run.ts'

/** A dispatch was accepted and stored. */
export interface AcceptedMeasurement {
  readonly of: 'accepted'
  readonly tenant: string
  readonly eventType: string
}

/** A delivery got a final status, or was queued again after an attempt (`retried`). */
export interface DeliveryMeasurement {
  readonly of: 'delivery'
  readonly tenant: string
  readonly eventType: string
  readonly channel: string
  readonly result: 'sent' | 'retried' | 'failed' | 'skipped' | 'expired'
  readonly reason?: DeliveryReason | undefined
  /** Milliseconds from acceptance; only of deliveries that were sent and not deferred. */
  readonly latencyMs?: number | undefined
}

/** Amounts that runs added. */
export interface AddedAmounts {
  /** Input plus output; below 0 for a correction. */
  readonly tokens: number
  /** Exact decimals by currency. */
  readonly cost: Readonly<Record<string, string>>
}

/** A run was first recorded, first ended, or changed what it spent. */
export interface RunMeasurement {
  readonly of: 'run'
  readonly tenant: string
  readonly isNew: boolean
  /** The status with which it first ended. */
  readonly ended?: RunStatus | undefined
  /** Amounts that applications metered. */
  readonly byApplication: AddedAmounts
  /** Amounts that only agents reported. When an application meters the run, they are taken back. */
  readonly byAgent: AddedAmounts
}

/** One thing that this process did, measured after it was stored. */
export type Measurement = AcceptedMeasurement | DeliveryMeasurement | RunMeasurement

/** Receives measurements. It is called in the middle of other work: it must be quick and must not throw. */
export type Measure = (measurement: Measurement) => void

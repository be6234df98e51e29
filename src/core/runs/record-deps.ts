import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { PriceBook } from '../../ports/price-book.ts'
import type { Redactor } from '../../ports/redactor.ts'
import type { RunExporter } from '../../ports/run-exporter.ts'
import type { RunStore } from '../../ports/run-store.ts'
import type { FaultDeps } from '../answers/report-fault.ts'
import type { MeasureDeps } from '../measure.ts'
import type { SignalOutbox } from './signal-outbox.ts'

/** Dependencies of `handleSessionRun`. */
export interface SessionRunDeps extends FaultDeps {
  readonly auth: AuthVerifier
  readonly store: Pick<RunStore, 'mergeRun'>
  readonly clock: Clock
  readonly ids: IdGenerator
  /** `create` (default): a session begins with its first run. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
  /** Calculates costs from tokens. Default: runs only have the costs in their posts. */
  readonly prices?: PriceBook | undefined
  /** Removes secrets from texts before they are stored. Default: texts are stored unchanged. */
  readonly redactor?: Redactor | undefined
  /** Receive every run when it first ends. Default: none. */
  readonly exporters?: readonly RunExporter[] | undefined
}

export interface RecordDeps extends Omit<SessionRunDeps, 'auth' | 'ids'>, MeasureDeps {
  readonly outbox?: SignalOutbox | undefined
}

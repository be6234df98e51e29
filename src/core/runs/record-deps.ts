import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { PriceBook } from '../../ports/price-book.ts'
import type { Redactor } from '../../ports/redactor.ts'
import type { RunExporter } from '../../ports/run-exporter.ts'
import type { RunStore } from '../../ports/run-store.ts'
import type { FaultDeps } from '../answers/report-fault.ts'
import type { RunEventPublisher } from './events/publisher.ts'

/** What recording a run needs. */
export interface SessionRunDeps extends FaultDeps {
  readonly auth: AuthVerifier
  readonly store: RunStore
  readonly clock: Clock
  readonly ids: IdGenerator
  /** `create` (default): a session begins with its first run. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
  /** Knows what tokens cost. Default: a run's cost is what its posts tell. */
  readonly prices?: PriceBook | undefined
  /** Takes out of texts what must not be kept. Default: they are kept as they came. */
  readonly redactor?: Redactor | undefined
  /** Passed every run as it first comes to an end. Default: nobody. */
  readonly exporters?: readonly RunExporter[] | undefined
}

/** What recording needs after authentication. */
export interface RecordDeps extends Omit<SessionRunDeps, 'auth' | 'ids'> {
  readonly publisher?: RunEventPublisher | undefined
}

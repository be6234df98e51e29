import type { ErrorDetails, ErrorHooks } from '../core/answers/report-fault.ts'
import type { Hooks } from '../core/delivery/hooks.ts'
import type { WorkerOptions } from '../core/delivery/worker-options.ts'
import type { Budget } from '../core/runs/events/budgets.ts'
import type { RunEvents } from '../core/runs/events/run-events.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Channel } from '../ports/channel.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import type { PriceBook } from '../ports/price-book.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { RecipientDirectory } from '../ports/recipient-directory.ts'
import type { Redactor } from '../ports/redactor.ts'
import type { RunExporter } from '../ports/run-exporter.ts'
import type { RunStore } from '../ports/run-store.ts'
import type { RuntimePorts } from './defaults.ts'

/** What `createSallyport` takes in a host that only records runs. */
export interface RunsOnlyOptions extends RuntimePorts {
  /** Who may call: `appSecrets`, `sessionTokens`, `anyOf` from `sallyport/auth`, or your own. */
  readonly auth: AuthVerifier
  /** Where runs are kept: `memoryStore()`, `sqlStore()`, or your own. */
  readonly store: RunStore
  /** `create` (default): a session begins with its first run. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
  /**
   * Counts requests by token, tenant and recipient: `rateLimits` from `sallyport/rate-limits`, or your own. What the host dispatches
   * by itself is not counted. Default: nothing is limited.
   */
  readonly rateLimiter?: RateLimiter | undefined
  /**
   * How many complete requests may be in flight at once, 1 to 100,000; more are answered 503 `overloaded`. A request takes its place
   * when its body is complete. Default: 1,000.
   */
  readonly maxInFlight?: number | undefined
  /**
   * How many requests may be unfinished at once, 1 to 100,000: as many may wait for their caller to be authenticated, and as many for
   * their body to arrive. Bodies share this and the next limit fairly, by tenant and then by principal; see docs/operating.md. Others
   * are answered 503 `overloaded`. Default: 1,000.
   */
  readonly maxUnfinished?: number | undefined
  /** How many bytes of memory unfinished bodies may take together, 262,144 (one body) to 68,719,476,736. Default: 67,108,864 (64 MiB). */
  readonly maxUnfinishedBytes?: number | undefined
  /** Knows what tokens cost: `priceBook` from `sallyport/pricing`, or your own. Default: a run's cost is what its posts tell. */
  readonly prices?: PriceBook | undefined
  /** Takes out of errors, tags and metadata what must not be kept. Default: they are kept as they came. */
  readonly redactor?: Redactor | undefined
  /** Passed every run as it first comes to an end: `otelRunExporter()` from `sallyport/otel`. Default: nobody. */
  readonly exporters?: readonly RunExporter[] | undefined
  /** What sessions and users may spend: for `budgets.check`, and `budget.exceeded`. Default: none. */
  readonly budgets?: readonly Budget[] | undefined
  /**
   * Has the worker make runs `expired` that it has not heard of for so many milliseconds, 1,000 to 31,622,400,000 (366 days).
   * Default: only `runs.sweepStale` does.
   */
  readonly staleAfterMs?: number | undefined
  /** `onError` receives the errors of host code. Default: none. */
  readonly hooks?: ErrorHooks | undefined
  /** How much of an error a log line holds. Default: messages of the host's own functions, which schemas and engines are not, and stack frames of all. */
  readonly errorDetails?: ErrorDetails | undefined
  /** Events and channels go together: with both, it also dispatches. */
  readonly events?: undefined
  readonly channels?: undefined
}

/** What `createSallyport` takes. */
export interface SallyportOptions<Events> extends Omit<RunsOnlyOptions, 'store' | 'hooks' | 'events' | 'channels'> {
  /** From `defineEvents`. */
  readonly events: EventCatalog<Events>
  /** Where everything is kept: `memoryStore()`, `sqlStore()`, or your own. */
  readonly store: DispatchStore & RunStore
  /** By the names that the events use. */
  readonly channels: Readonly<Record<string, Channel>>
  /** Finds the people behind user ids. Default: only addresses can be notified. */
  readonly recipients?: RecipientDirectory
  /** What may go out, and when: `preferences`, `quietHours`, `throttle`, `allOf` from `sallyport/policy`. Default: all, at once. */
  readonly policy?: DeliveryPolicy
  /** Called when events are accepted, sent, failed or skipped, and with errors of host code. Default: none. */
  readonly hooks?: Hooks
  /**
   * Plan and record everything, send nothing: each delivery is `skipped`, `sandboxed`, and every answer about a dispatch says
   * `sandboxed: true`. What was queued before stays where it is. Default: `false`.
   */
  readonly sandbox?: boolean
  /** How the worker works. Default: as each of its options says. */
  readonly worker?: WorkerOptions
  /**
   * Wakes workers sooner than they would look: `postgresQueue()` from `sallyport/queue/postgres`, `bullmqQueue()` from
   * `sallyport/queue/bullmq`, or your own. Default: accepting wakes the workers of this process.
   */
  readonly queue?: DeliveryQueue | undefined
  /** Events of the catalogue that runs give rise to, and whom each tells. Default: none. */
  readonly runEvents?: RunEvents | undefined
  /**
   * How long a delivery is worth sending, in milliseconds from when it is first due: 1,000 to 31,622,400,000 (366 days). Default: 72
   * hours.
   */
  readonly expiresInMs?: number
  /** How long an `Idempotency-Key` is remembered, in milliseconds: 1,000 to 31,622,400,000 (366 days). Default: 24 hours. */
  readonly idempotencyTtlMs?: number
}

import type { WorkerOptions } from './core/delivery/worker-options.ts'
import type { Hooks } from './core/dispatch/hooks.ts'
import type { Budget } from './core/run-events/budgets.ts'
import type { RunEvents } from './core/run-events/run-events.ts'
import type { RuntimePorts } from './defaults.ts'
import type { AuthVerifier } from './ports/auth-verifier.ts'
import type { Channel } from './ports/channel.ts'
import type { DeliveryPolicy } from './ports/delivery-policy.ts'
import type { DeliveryQueue } from './ports/delivery-queue.ts'
import type { DispatchStore } from './ports/dispatch-store.ts'
import type { EventCatalog } from './ports/event-catalog.ts'
import type { PriceBook } from './ports/price-book.ts'
import type { RateLimiter } from './ports/rate-limiter.ts'
import type { RecipientDirectory } from './ports/recipient-directory.ts'
import type { Redactor } from './ports/redactor.ts'
import type { RunExporter } from './ports/run-exporter.ts'
import type { RunStore } from './ports/run-store.ts'

/** What `createSallyport` takes. */
export interface SallyportOptions<Events> extends RuntimePorts {
  /** Who may call: `appSecrets`, `sessionTokens`, `anyOf` from `sallyport/auth`, or your own. */
  readonly auth: AuthVerifier
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
  /** Told of what becomes of events. Default: nobody. */
  readonly hooks?: Hooks
  /**
   * Plan and record everything, send nothing: each delivery is `skipped`, `sandboxed`, and every answer about a dispatch says
   * `sandboxed: true`. What was queued before stays where it is. Default: `false`.
   */
  readonly sandbox?: boolean
  /** `create` (default): a session begins with its first run. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
  readonly worker?: WorkerOptions
  /**
   * Wakes workers sooner than they would look: `postgresQueue()` from `sallyport/queue/postgres`, `bullmqQueue()` from
   * `sallyport/queue/bullmq`, or your own. Default: accepting wakes the workers of this process.
   */
  readonly queue?: DeliveryQueue | undefined
  /**
   * Counts requests by token, tenant and recipient: `rateLimits` from `sallyport/rate-limits`, or your own. What the host dispatches
   * by itself is not counted. Default: nothing is limited.
   */
  readonly rateLimiter?: RateLimiter | undefined
  /** How many requests may be in hand at once, 1 to 100,000; more are answered 503 `overloaded` at once. Default: 1,000. */
  readonly maxInHand?: number
  /** Knows what tokens cost: `priceBook` from `sallyport/pricing`, or your own. Default: a run's cost is what its posts tell. */
  readonly prices?: PriceBook | undefined
  /** Takes out of errors, tags and metadata what must not be kept. Default: they are kept as they came. */
  readonly redactor?: Redactor | undefined
  /** Passed every run as it first comes to an end: `otelRunExporter()` from `sallyport/otel`. Default: nobody. */
  readonly exporters?: readonly RunExporter[] | undefined
  /** Events of the catalogue that runs give rise to, and whom each tells. Default: none. */
  readonly runEvents?: RunEvents | undefined
  /** What sessions and users may spend: for `budgets.check`, and `budget.exceeded`. Default: none. */
  readonly budgets?: readonly Budget[] | undefined
  /** Has the worker make runs `expired` that it has not heard of for so many milliseconds. Default: only `runs.sweepStale` does. */
  readonly staleAfterMs?: number | undefined
  /** How long a delivery is worth sending, in milliseconds from when it is first due. Default: 72 hours. */
  readonly expiresInMs?: number
  /** How long an `Idempotency-Key` is remembered, in milliseconds. Default: 24 hours. */
  readonly idempotencyTtlMs?: number
}

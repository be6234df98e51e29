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

/** Options of `createSallyport` in a host that only records runs. */
export interface RunsOnlyOptions extends RuntimePorts {
  /** Authenticates callers: `appSecrets`, `sessionTokens`, `anyOf` from `sallyport/auth`, or your own. */
  readonly auth: AuthVerifier
  /** Stores runs: `memoryStore()`, `sqlStore()`, or your own. */
  readonly store: RunStore
  /** `create` (default): the first run creates its session. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
  /**
   * Limits requests by token, tenant and recipient: `rateLimits` from `sallyport/rate-limits`, or your own. Dispatches by the host
   * itself are not counted. Default: no limit.
   */
  readonly rateLimiter?: RateLimiter | undefined
  /**
   * The greatest number of complete requests in flight, 1 to 100,000; more are answered 503 `overloaded`. A request counts when its
   * body is complete. Default: 1,000.
   */
  readonly maxInFlight?: number | undefined
  /**
   * The greatest number of unfinished requests, 1 to 100,000: this many in authentication, and this many with an incomplete body. More
   * are answered 503 `overloaded`. Bodies share this and the next limit fairly, by tenant and then by principal; see docs/operating.md.
   * Default: 1,000.
   */
  readonly maxUnfinished?: number | undefined
  /** The memory of all unfinished bodies in bytes, 262,144 (one body) to 68,719,476,736. Default: 67,108,864 (64 MiB). */
  readonly maxUnfinishedBytes?: number | undefined
  /** Prices tokens: `priceBook` from `sallyport/pricing`, or your own. Default: a run's cost comes from its posts. */
  readonly prices?: PriceBook | undefined
  /** Removes from errors, tags and metadata what must not be stored. Default: they are stored unchanged. */
  readonly redactor?: Redactor | undefined
  /** Receive every run when it first ends: `otelRunExporter()` from `sallyport/otel`. Default: none. */
  readonly exporters?: readonly RunExporter[] | undefined
  /** Limits of what sessions and users may spend, for `budgets.check` and `budget.exceeded`. Default: none. */
  readonly budgets?: readonly Budget[] | undefined
  /**
   * The worker makes a running run `expired` this many milliseconds after its last post, 1,000 to 31,622,400,000 (366 days). Default:
   * only `runs.sweepStale` does.
   */
  readonly staleAfterMs?: number | undefined
  /** `onError` receives errors of host code. Default: none. */
  readonly hooks?: ErrorHooks | undefined
  /** How much of an error a log line contains. Default: messages of the host's own functions (not of schemas and engines), and all stack frames. */
  readonly errorDetails?: ErrorDetails | undefined
  /** Give `events` and `channels` together, to dispatch as well. */
  readonly events?: undefined
  readonly channels?: undefined
}

/** Options of `createSallyport`. */
export interface SallyportOptions<Events> extends Omit<RunsOnlyOptions, 'store' | 'hooks' | 'events' | 'channels'> {
  /** From `defineEvents`. */
  readonly events: EventCatalog<Events>
  /** Stores everything: `memoryStore()`, `sqlStore()`, or your own. */
  readonly store: DispatchStore & RunStore
  /** Channels, by the names that events use. */
  readonly channels: Readonly<Record<string, Channel>>
  /** Finds the recipient of a user id. Default: only addresses can be notified. */
  readonly recipients?: RecipientDirectory
  /** Decides what is sent, and when: `preferences`, `quietHours`, `throttle`, `allOf` from `sallyport/policy`. Default: all, at once. */
  readonly policy?: DeliveryPolicy
  /** Called for events that are accepted, sent, failed or skipped, and with errors of host code. Default: none. */
  readonly hooks?: Hooks
  /**
   * Plans and records everything, and sends nothing: each delivery is `skipped`, `sandboxed`, and every answer about a dispatch has
   * `sandboxed: true`. Deliveries that were queued before stay queued. Default: `false`.
   */
  readonly sandbox?: boolean
  /** Options of the worker. */
  readonly worker?: WorkerOptions
  /**
   * Wakes workers before their next poll: `postgresQueue()` from `sallyport/queue/postgres`, `bullmqQueue()` from
   * `sallyport/queue/bullmq`, or your own. Default: accepting wakes the workers of this process.
   */
  readonly queue?: DeliveryQueue | undefined
  /** Events of the catalogue that runs cause, each with its recipient. Default: none. */
  readonly runEvents?: RunEvents | undefined
  /**
   * A delivery expires this many milliseconds after it is first due: 1,000 to 31,622,400,000 (366 days). Default: 72 hours.
   */
  readonly expiresInMs?: number
  /** How long an `Idempotency-Key` is kept, in milliseconds: 1,000 to 31,622,400,000 (366 days). Default: 24 hours. */
  readonly idempotencyTtlMs?: number
}

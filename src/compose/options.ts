import type { ErrorDetails, ErrorHooks } from '../core/answers/report-fault.ts'
import type { WorkerOptions } from '../core/delivery/worker-options.ts'
import type { Hooks } from '../core/hooks.ts'
import type { HashKey } from '../options/hash-keys.ts'
import type { Plugin } from '../plugins/plugin.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Channel } from '../ports/channel.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import type { PriceBook } from '../ports/price-book.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { RecipientDirectory } from '../ports/recipient-directory.ts'
import type { Redactor } from '../ports/redactor.ts'
import type { RunExporter } from '../ports/run-exporter.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import type { RuntimePorts } from './defaults.ts'

/** Options of `createSallyport` in a host that only records runs. */
export interface RunsOnlyOptions<Plugins extends readonly Plugin[] = readonly Plugin[]> extends RuntimePorts {
  /** Authenticates callers: `appSecrets`, `sessionTokens` or `anyOf` from `sallyport/auth`, or your own. */
  readonly auth: AuthVerifier
  /** Stores everything: `memoryStore()`, `sqlStore()`, `documentStore()` or `engineStore()`. */
  readonly store: SallyportStore
  /** `create` (default): the first run creates its session. `must-exist`: an unknown one is 404 `session_not_found`. */
  readonly sessions?: 'create' | 'must-exist'
  /** Limits requests by token, tenant and recipient, except host dispatches: `rateLimits`, or your own. Default: no limit. */
  readonly rateLimiter?: RateLimiter | undefined
  /** Maximum complete requests in flight, 1 to 100,000; more are answered 503 `overloaded`. Default: 1,000. */
  readonly maxInFlight?: number | undefined
  /**
   * Maximum unfinished requests, 1 to 100,000, in authentication, and as many with an incomplete body; more are answered 503
   * `overloaded`. Bodies share this and the next limit fairly, by tenant and then by principal; see docs/operating.md. Default:
   * 1,000.
   */
  readonly maxUnfinished?: number | undefined
  /** Memory of all unfinished bodies in bytes, 262,144 (one body) to 68,719,476,736. Default: 67,108,864 (64 MiB). */
  readonly maxUnfinishedBytes?: number | undefined
  /** Prices tokens: `priceBook` from `sallyport/pricing`, or your own. Default: a run's cost comes from its posts. */
  readonly prices?: PriceBook | undefined
  /** Removes sensitive text from errors, tags and metadata. Default: they are stored unchanged. */
  readonly redactor?: Redactor | undefined
  /** Receive every run when it first ends, such as `otelRunExporter()` from `sallyport/otel`. Default: none. */
  readonly exporters?: readonly RunExporter[] | undefined
  /** Milliseconds without a post until a `running` run expires (1,000 to 31,622,400,000). Default: only by `sweepStale`. */
  readonly staleAfterMs?: number | undefined
  /** `onError` receives errors of host code. Default: none. */
  readonly hooks?: ErrorHooks | undefined
  /**
   * Details of errors in log lines. Default: `full` where `NODE_ENV` is exactly `development`; otherwise `default`, messages of the host's
   * own functions (not schemas and engines) and all stack frames.
   */
  readonly errorDetails?: ErrorDetails | undefined
  /** Features of the host, from `sallyport/plugins` or your own. Their members become members of the result. Default: none. */
  readonly plugins?: Plugins | undefined
  /** Give `events` and `channels` together to dispatch as well. */
  readonly events?: undefined
  readonly channels?: undefined
}

export type { HashKey } from '../options/hash-keys.ts'

/** Options of links in messages, which plugins make. */
export interface LinkOptions {
  /** Public URL at which the host has mounted Sallyport: what stands before `/api/`. At most 200 characters. */
  readonly baseUrl: string
  /** The first one signs links. Retained keys still verify older ones: unsubscribe links never expire. */
  readonly keys: readonly HashKey[]
}

/** Options of `createSallyport`. */
export interface SallyportOptions<Events, Plugins extends readonly Plugin[] = readonly Plugin[]>
  extends Omit<RunsOnlyOptions<Plugins>, 'hooks' | 'events' | 'channels'> {
  /** From `defineEvents`. */
  readonly events: EventCatalog<Events>
  /** Channels, by the names that events use. */
  readonly channels: Readonly<Record<string, Channel>>
  /** Finds recipients by user id. Default: a dispatch needs an address, except on channels whose address is the id, such as `log()`. */
  readonly recipients?: RecipientDirectory
  /** Decides whether and when to send: `preferences`, `quietHours`, `throttle`, `allOf` of `sallyport/policy`. Default: at once. */
  readonly policy?: DeliveryPolicy
  /** Called for accepted, sent, failed and skipped events, and for errors of host code. Default: none. */
  readonly hooks?: Hooks
  /** Records everything, sends nothing: deliveries are `skipped`, `sandboxed`. Earlier ones stay queued. Default: `false`. */
  readonly sandbox?: boolean
  /** Concurrency, leases, rates and polling of the worker of this process. Default: those of {@link WorkerOptions}. */
  readonly worker?: WorkerOptions
  /** Wakes workers early: `postgresQueue()`, `bullmqQueue()`, or your own. Default: accepting wakes workers of this process. */
  readonly queue?: DeliveryQueue | undefined
  /** Public URL and keys of the links that plugins make, such as `links.unsubscribe` of `consent`. Default: there are no links. */
  readonly links?: LinkOptions | undefined
  /** Milliseconds from the first due time to expiry of a delivery, 1,000 to 31,622,400,000 (366 days). Default: 72 hours. */
  readonly expiresInMs?: number
  /** Milliseconds that an `Idempotency-Key` is kept, 1,000 to 31,622,400,000 (366 days). Default: 24 hours. */
  readonly idempotencyTtlMs?: number
}

import type { ErrorContext, FaultLine } from '../core/answers/report-fault.ts'
import type { HandlerResult } from '../core/answers/result.ts'
import type { CausedBy } from '../core/dispatch/caller.ts'
import type { Action, ActionRoute, OpenAction } from '../core/endpoints.ts'
import type { SignedLinks } from '../core/links/signed-links.ts'
import type { TimelineList } from '../core/runs/sessions/timeline.ts'
import type { SignalPublisher } from '../core/runs/signal-outbox.ts'
import type { Dispatch, DispatchAnswer, DispatchPreview, DispatchRequest, FallbackCause } from '../model/dispatch.ts'
import type { Measurement } from '../model/measurement.ts'
import type { Principal } from '../model/principal.ts'
import type { RecipientKey } from '../model/recipient-key.ts'
import type { AuthVerifier } from '../ports/auth-verifier.ts'
import type { Clock } from '../ports/clock.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import type { IdGenerator } from '../ports/id-generator.ts'
import type { LinkMakers } from '../ports/link-maker.ts'
import type { Logger } from '../ports/logger.ts'
import type { MessageGuard } from '../ports/message-guard.ts'
import type { CommitOutcome, CommitUnit } from '../ports/record-store.ts'
import type { RunKey } from '../ports/run-store.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import type { Shown } from '../services/plugin-data.ts'

/**
 * A feature of a host: a name, and a function that creates its parts. Given as `createSallyport({ plugins: [statistics()] })`. The order is
 * that of the list; `stop` is called in the reverse order.
 *
 * @example
 * ```ts
 * const greeter = { name: 'greeter', setup: () => ({ api: { greet: (name: string) => `Hello ${name}` } }) } satisfies Plugin
 * const sallyport = createSallyport({ auth, store, plugins: [greeter] })
 * sallyport.greet('Ada')
 * ```
 */
export interface Plugin<Name extends string = string, Api extends object = object> {
  /** 1-64 letters and digits, with a lower-case letter first. Unique within a host. */
  readonly name: Name
  /** Names of plugins that stand before it. `dispatch`: a host that only records runs is refused. Default: none. */
  readonly needs?: readonly string[]
  /**
   * Creates its parts: once, while `createSallyport` runs. Synchronous. A `SallyportError` with problems stops the start and is reported with
   * those of the other plugins.
   */
  setup(core: PluginCore): PluginParts<Api>
}

/** Parts of a plugin. Each is optional, and an absent one costs nothing. */
export interface PluginParts<Api extends object = object> {
  /**
   * Its members become members of the Sallyport. A member that is an object is joined with the member of that name; a name that exists
   * already stops the start.
   */
  readonly api?: Api
  /** Endpoints for callers with a bearer token. */
  readonly actions?: readonly Action[]
  /** Endpoints without a bearer token. */
  readonly open?: readonly OpenAction[]
  /**
   * Decides whether and when a message is sent, before the policy of the host does. Asked about `critical` events too: the question tells which
   * ones are.
   */
  readonly policy?: DeliveryPolicy
  /** Checks each address of a message, last. Guards are asked in the order of the plugins; the first objection holds. */
  readonly guard?: MessageGuard
  /**
   * Links of messages, by the names that templates use: `links.<name>`. A name is 1-32 letters and digits, with a lower-case letter first, and
   * not the beginning of another one. A maker has five seconds.
   */
  readonly links?: LinkMakers
  /** Events that only `core.plan` dispatches, such as those of `approvals`: any other dispatch of one is refused, 403 `insufficient_scope`. */
  readonly ownEvents?: readonly string[]
  /** Causes of `fallbackOn` after which it calls `core.fallBack`. An event with another cause stops the start. */
  readonly fallbackOn?: readonly FallbackCause[]
  readonly view?: PluginView
  readonly recipient?: PluginRecipient
  readonly session?: PluginSession
  /**
   * Removes what it no longer needs: called by `dispatches.prune`, which waits for it and rejects with its error.
   *
   * @param tenant Default: every tenant.
   */
  prune?(olderThanMs: number, tenant: string | undefined): Promise<unknown>
  /** Signals of runs: stored by the merge that raises them, until they are published. */
  readonly run?: SignalPublisher
  readonly on?: PluginListeners
  readonly life?: PluginLife
}

/** Adds to what is shown. */
export interface PluginView {
  /**
   * Returns further members of the views of deliveries, by delivery id. Members of the core stay as they are. After an error, or 30 seconds,
   * the read is rejected.
   *
   * @param shown `one`: for `dispatches.get`. `page`: for a page of a list. `export`: for `dispatches.export`.
   */
  deliveries?(dispatches: readonly Dispatch[], shown: Shown): Promise<ReadonlyMap<string, object>>
  /**
   * Returns further members of the views of runs of one tenant, one object for each run, in their order. Members of the core stay as they are. After an error, or
   * 30 seconds, the read is rejected.
   *
   * @param shown `one`: for `runs.get`. `page`: for a page of a list or a timeline. `export`: for `runs.export`.
   */
  runs?(runs: readonly RunKey[], shown: Shown): Promise<readonly object[]>
}

/** Data of sessions that a plugin keeps. */
export interface PluginSession {
  /** A further list of the timeline of a session, in the order of `at`. After an error, or 30 seconds, the read is rejected. */
  readonly timeline?: TimelineList
  /** True for a run that waits for something else than a post: `runs.sweepStale` leaves it alone. After an error, or 30 seconds, too. */
  isAwaited?(run: RunKey): Promise<boolean>
  /** Called by `runs.erase` with a session, before its runs are removed. After an error, `runs.erase` rejects. May be repeated. */
  erase?(of: Pick<RunKey, 'tenant' | 'sessionId'>): Promise<void>
}

/** Data of recipients that a plugin keeps (GDPR articles 15 and 17). After an error, `dispatches.export` and `dispatches.erase` reject. */
export interface PluginRecipient {
  /** Shown in the first page of an export, under the name of the plugin. */
  export(of: RecipientKey): Promise<object>
  /** May be repeated. */
  erase(of: RecipientKey): Promise<void>
}

/** Called synchronously, after what they tell has happened; lost in a crash. An error is logged as `plugin.failed` and has no other effect. */
export interface PluginListeners {
  /** This process did something that is measured. Must be quick. */
  measured?(measurement: Measurement): void
  /** A request of an authenticated caller has ended. */
  requestEnded?(end: RequestEnd): void
}

/** The end of a request. */
export interface RequestEnd {
  readonly principal: Principal
  readonly action: ActionRoute
  /** Code of the problem. Absent: the request was accepted. */
  readonly refused?: string
  /** Id of the dispatch or run that an accepted request is about, or the id that `onMade` took; of a refused one, its `requestId`. Default: unknown. */
  readonly id?: string | undefined
}

/** Steps in the life of the host. An error of one is logged as `plugin.failed` and stops no other. */
export interface PluginLife {
  /** The worker was started. */
  start?(): void
  /**
   * `worker.runDue` was called, and waits for this too: the process may end then.
   *
   * @param delivered Resolves when the deliveries have ended.
   */
  runDue?(delivered: Promise<void>): Promise<void>
  /** Stores what is only in memory: at `stop`, and after answers on platforms with `waitUntil`. */
  flush?(): Promise<void>
  /** True if `flush` has something to store. Default: never. */
  hasWork?(): boolean
  /**
   * The worker has stopped, and was not started again meanwhile. Awaited, as `flush` is then, until one second after the grace of `stop`;
   * without a grace, without limit.
   */
  stop?(): Promise<void>
}

/** Options of a dispatch by a plugin. */
export interface PluginDispatchOptions {
  /** An idempotency key, kept for 366 days. All dispatches with it are one dispatch, also with other bodies. */
  readonly key?: string | undefined
  /** The session whose agent caused it. */
  readonly causedBy?: CausedBy | undefined
}

/** Options of a planned dispatch. */
export interface PluginPlanOptions extends PluginDispatchOptions {
  /** Id under which it is recorded, 1-200 visible ASCII characters. Default: `host`. */
  readonly by?: string | undefined
  /** Delay in milliseconds, instead of the event's own. */
  readonly delayMs?: number | undefined
  /** Milliseconds from its first due time to its expiry. Default: those of the host. */
  readonly expiresInMs?: number | undefined
}

/** A dispatch that is planned and not stored. To be committed once, soon: it is not planned again. */
export interface PreparedDispatch {
  readonly dispatchId: string
  /** As a dry run answers. */
  readonly preview: DispatchPreview
}

/** Input of {@link PluginCore.commit}, stored together or not at all. At most 500 of each list. */
export interface PluginCommit extends Pick<CommitUnit, 'cancel' | 'changes'> {
  readonly accept?: readonly PreparedDispatch[] | undefined
}

/** Parts of the host, for a plugin. */
export interface PluginCore {
  /** Name of the plugin. */
  readonly name: string
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
  readonly auth: AuthVerifier
  /** The host's store. `recordsOf` of `sallyport/plugins` keeps records of a plugin in it. */
  readonly store: SallyportStore
  /** Names of the host's channels. Absent in a host that only records runs. */
  readonly channels?: readonly string[]
  /** The catalogue. Absent in a host that only records runs. */
  readonly events?: EventCatalog
  /**
   * Dispatches an event, as an application does. Never throws. Not before `setup` has returned. Absent in a host that only records runs.
   */
  readonly dispatch?: (
    tenant: string,
    request: DispatchRequest,
    options?: PluginDispatchOptions,
  ) => Promise<HandlerResult<unknown>>
  /**
   * Plans a dispatch without side effects, for `commit`. Resolves to the answer if there is nothing to store: the stored one of a known key, or a
   * problem. Never throws. Not before `setup` has returned. Absent in a host that only records runs.
   */
  readonly plan?: (
    tenant: string,
    request: DispatchRequest,
    options?: PluginPlanOptions,
  ) => Promise<PreparedDispatch | HandlerResult<DispatchAnswer>>
  /**
   * Stores planned dispatches, cancellations and changes of records together, or none of them; then wakes workers and calls hooks, as for any
   * dispatch. Rejects when the store is unavailable. In a host that dispatches, not before `setup` has returned.
   *
   * @example
   * ```ts
   * const planned = await core.plan?.(tenant, { eventType: 'invoice.due', recipient })
   * if (!planned || !('preview' in planned)) return planned
   * const made = await core.commit({ accept: [planned], changes: [reminders.insert(tenant, invoiceId, { sentAt })] })
   * if (made.outcome === 'conflict') return 'reminded already'
   * ```
   *
   * @throws {SallyportError} `option_invalid`, by a rejection: a list has more than 500 entries, two changes are of one record, or a dispatch was not
   * returned by `plan`, or is committed a second time.
   */
  readonly commit: (unit: PluginCommit) => Promise<CommitOutcome>
  /** The `api` of a plugin that `needs` names. @throws {SallyportError} `option_invalid`: it does not name that one. */
  readonly use: <Api extends object>(name: string) => Api
  /** Signs and verifies links. Absent without the option `links`. */
  readonly links?: SignedLinks
  /**
   * Continues a dispatch after a delivery that was sent but did not arrive: its next channel follows. A repetition changes nothing. Rejects
   * when the store is unavailable. Absent in a host that only records runs.
   */
  readonly fallBack?: (dispatch: Dispatch, deliveryId: string) => Promise<void>
  /**
   * Calls the listeners of this topic: those of this process now, those of all others through the queue of the host. All plugins share the
   * topics. Best effort: other processes are not told while a queue is disconnected, nor by one without `notify`, and a host without a
   * queue tells this process alone. An error of the queue is logged as `queue.wake_failed`.
   *
   * @param topic 1-32 of `a-z 0-9 _`.
   * @throws {SallyportError} `option_invalid`: a wrong topic.
   */
  wake(topic: string): void
  /**
   * Calls the listener at each {@link wake} of this topic, in any process, and when wakes of other processes may have been missed: when the
   * queue is connected and when it is lost. May be called too often. While the queue is lost, and with one that has no `notify`, wakes of
   * other processes do not arrive: read at times too. The queue is listened to while there is a listener; a plugin ends its own. An error of the listener is logged as
   * `plugin.failed`, and stops no other.
   *
   * @example
   * ```ts
   * // Listens first, and reads then: a change between the two is not missed.
   * const end = core.onWake('approvals', () => void readAnswers())
   * await readAnswers()
   * ```
   *
   * @returns A function that ends it.
   * @throws {SallyportError} `option_invalid`: a wrong topic.
   */
  onWake(topic: string, listener: () => void): () => void
  /** Logs an error with this line, and gives it to the `onError` hook of the host. Never throws. */
  report(cause: unknown, context: ErrorContext, line: FaultLine): void
}

/** The members that plugins add to a Sallyport: the intersection of their `api`s. */
export type PluginApis<Plugins extends readonly Plugin[]> = (
  Plugins[number] extends infer One
    ? One extends Plugin<string, infer Api>
      ? (api: Api) => void
      : never
    : never
) extends (all: infer All) => void
  ? All
  : never

import { RUN_ACTIONS, SESSION_ACTIONS } from '../actions/table.ts'
import { actionsOf } from '../core/actions/call-action.ts'
import { reportFault } from '../core/answers/report-fault.ts'
import type { StopOptions, Worker } from '../core/delivery/worker.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { signedLinks } from '../core/links/signed-links.ts'
import { signalOutbox } from '../core/runs/signal-outbox.ts'
import { sweepStale } from '../core/runs/sweep-stale.ts'
import type { Plugin, PluginApis, PluginCore } from '../plugins/plugin.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import { readyHashKeys } from '../runtime/ready-hash-keys.ts'
import { type Runs, runsOf } from '../services/runs.ts'
import { type Sessions, sessionsOf } from '../services/sessions.ts'
import { type Tokens, tokenServices } from '../services/tokens.ts'
import { backgroundWork } from './background-work.ts'
import { readConfig, readRunsOnly } from './check-config.ts'
import { withDefaults } from './defaults.ts'
import { coreActions, endpointsOf, recordActions, stopOf } from './endpoints.ts'
import { withErrorDetails } from './error-details.ts'
import { idleWorker } from './idle-worker.ts'
import { withMaintenance } from './maintenance.ts'
import { type Measuring, measuringOf } from './measuring.ts'
import { watchMemory } from './memory-stores.ts'
import type { LinkOptions, RunsOnlyOptions, SallyportOptions } from './options.ts'
import { type Outbound, type OutboundMembers, outboundOf } from './outbound.ts'
import { joinActions } from './plugin-actions.ts'
import { commitRecords } from './plugin-commit.ts'
import { livesOf } from './plugin-lives.ts'
import { joinMembers } from './plugin-members.ts'
import { joinOpen } from './plugin-open.ts'
import { type SharedCore, setUpPlugins } from './plugins.ts'

/** Members of every Sallyport. Reads throw errors of the store. */
export interface RecordingMembers {
  /** Endpoints for an adapter. */
  readonly endpoints: Endpoints
  /**
   * Sends accepted deliveries: nothing is sent before `start()` or `runDue()` is called. Makes stale runs `expired` with `staleAfterMs`, every
   * minute after `start()`, or by `runDue()`.
   */
  readonly worker: Worker
  /**
   * Stops the worker, as {@link Worker.stop} does, and closes the connections of callers, for the end of a process. From now on
   * every answer over HTTP/1 has `Connection: close`, so that `server.close()` ends even with busy connections: answers of
   * Sallyport, and those of the host that pass `toExpress`, `toKoa`, `toNode` or the `notFound` of `toFetch`. Requests are still
   * served while the server accepts them.
   *
   * Resolves when all deliveries in flight are settled, and what plugins keep in memory is stored. What is not stored one second after
   * `graceMs` is no longer awaited, and logged as `plugin.failed`. May be called before a start, and again. Connections
   * continue to close even if the worker is started again: to stop only the worker, call `worker.stop()`.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, for a wrong `graceMs`; then nothing is stopped.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Resolves when the store is usable: await it before the host listens.
   *
   * @throws {SallyportError} `config_invalid`: the store needs a step first, such as a migration of the database.
   */
  ready(): Promise<void>
  /** The store that it was given. */
  readonly store: SallyportStore
  readonly runs: Runs
  readonly sessions: Sessions
  readonly tokens: Tokens
  readonly onMeasurement: Measuring['onMeasurement']
}

/** Sallyport in a host that only records runs, with the members of its plugins. */
export type RunsOnlySallyport<Plugins extends readonly Plugin[] = readonly Plugin[]> = RecordingMembers &
  PluginApis<Plugins>

/** Sallyport in a host that dispatches and records runs, with the members of its plugins. */
export type Sallyport<
  Events = Record<string, unknown>,
  Plugins extends readonly Plugin[] = readonly Plugin[],
> = RecordingMembers & OutboundMembers<Events> & PluginApis<Plugins>

/**
 * Creates a Sallyport from its ports. Without `events` and `channels` it only records runs, and `POST /api/outbound/dispatch` is
 * answered 404 `not_found`.
 *
 * @throws {SallyportError} `config_invalid`, with all problems at once: an option that is unknown, missing, of another type or out
 * of range, events without channels or channels without events, an event that does not fit its channel. Then, with all problems of
 * the plugins at once, those that do not fit.
 */
export function createSallyport<Events, const Plugins extends readonly Plugin[] = readonly Plugin[]>(
  options: SallyportOptions<Events, Plugins>,
): Sallyport<Events, Plugins>
export function createSallyport<const Plugins extends readonly Plugin[] = readonly Plugin[]>(
  options: RunsOnlyOptions<Plugins>,
): RunsOnlySallyport<Plugins>
// Repeated: `ReturnType` takes the last overload, and the compiler reports a wrong call by the last one.
export function createSallyport<Events, const Plugins extends readonly Plugin[] = readonly Plugin[]>(
  options: SallyportOptions<Events, Plugins>,
): Sallyport<Events, Plugins>
export function createSallyport(unchecked: SallyportOptions<unknown> | RunsOnlyOptions): RecordingMembers {
  return compose(readConfig(unchecked), outboundOf)
}

/**
 * As {@link createSallyport} without `events` and `channels`. A bundle with this function alone carries nothing that dispatches.
 *
 * @example
 * ```ts
 * const sallyport = createRunsOnlySallyport({ auth, store, plugins: [statistics()] })
 * ```
 *
 * @throws {SallyportError} `config_invalid`, as {@link createSallyport}; also for options of dispatching.
 */
export function createRunsOnlySallyport<const Plugins extends readonly Plugin[] = readonly Plugin[]>(
  options: RunsOnlyOptions<Plugins>,
): RunsOnlySallyport<Plugins>
export function createRunsOnlySallyport(unchecked: RunsOnlyOptions): RecordingMembers {
  return compose(readRunsOnly(unchecked))
}

/** @param dispatchingOf Creates the half that dispatches, if there are events. */
function compose(
  options: SallyportOptions<unknown> | RunsOnlyOptions,
  dispatchingOf?: typeof outboundOf,
): RecordingMembers {
  const { links, ...own }: typeof options & { readonly links?: LinkOptions | undefined } = options
  const ports = withErrorDetails(withDefaults(own))
  const { store, clock, logger, events, staleAfterMs } = ports
  const channels = ports.channels && Object.keys(ports.channels)
  const report: PluginCore['report'] = (cause, context, line) => reportFault(cause, context, line, ports)
  let outbound: Outbound<unknown> | undefined
  /** The half that dispatches, for plugins. */
  const dispatching = (): Outbound<unknown> => {
    if (!outbound) throw new TypeError('a plugin may do this after its setup')
    return outbound
  }
  const core: SharedCore = {
    auth: ports.auth,
    store,
    clock,
    logger,
    ids: ports.ids,
    report,
    commit: async (unit) => (events ? dispatching().commits.commit(unit) : commitRecords(unit, store)),
    ...(channels && { channels }),
    ...(events && {
      events,
      dispatch: async (...given) => dispatching().dispatchFor(...given),
      plan: async (...given) => dispatching().commits.plan(...given),
      fallBack: async (...given) => dispatching().fallBack(...given),
    }),
    ...(links && { links: signedLinks({ baseUrl: links.baseUrl, keys: readyHashKeys(links.keys) }) }),
  }
  const plugins = setUpPlugins(options.plugins ?? [], core, ports)
  const { measure, onMeasurement } = measuringOf(plugins.measures, ports)
  const lives = livesOf(plugins.parts, ports)

  // One half records runs; the other one, if there are events, dispatches.
  outbound = ports.events && dispatchingOf?.(ports, plugins, measure)
  const publishing = backgroundWork()
  const outbox = plugins.run && signalOutbox(plugins.run, { ...ports, background: publishing.add })
  const { data } = plugins
  const recording = { ...(outbound?.recording ?? { ...ports, measure }), outbox, isAwaited: data.isAwaited }
  const maintenance = {
    publishPending: outbox?.publishPending,
    published: publishing.done,
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, recording) }),
  }
  const worker = watchMemory(
    lives.around(withMaintenance(outbound?.worker ?? idleWorker(clock), maintenance, ports)),
    store,
    logger,
  )
  const { tokens, revocations } = tokenServices(ports)
  const { stop, isStopping } = stopOf(worker)
  const runs = runsOf({ ...recording, plugins: data })
  const sessions = sessionsOf({ store, dispatches: outbound ? store : NO_DISPATCHES, clock, plugins: data })
  const actions = joinActions(
    coreActions([
      ...(outbound?.actions ?? []),
      ...recordActions(recording, ports),
      ...actionsOf(SESSION_ACTIONS, sessions),
      ...actionsOf(RUN_ACTIONS, runs),
    ]),
    plugins.parts,
  )
  const members = {
    ...{ runs, sessions, tokens },
    endpoints: {
      ...endpointsOf(recording, ports, {
        actions,
        revocations,
        ended: plugins.ended,
        hasWork: outbound ? publishing.isGoing : lives.hasWork,
        async work() {
          // First, so that dispatches of run events are delivered too.
          await publishing.done()
          await outbound?.deliver()
          await lives.flush()
        },
      }),
      isStopping,
      plugins: plugins.parts.map(({ plugin }) => plugin),
      open: joinOpen(plugins.parts, actions),
    },
    worker,
    store,
    stop,
    async ready() {
      await store.ready?.()
    },
    onMeasurement,
    ...outbound?.members,
  }
  return joinMembers(members, plugins.parts)
}

const NO_DISPATCHES = { listDispatches: async () => ({ items: [] }) }

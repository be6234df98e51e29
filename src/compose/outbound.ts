import { CATALOGUE_ACTIONS, DISPATCH_ACTIONS } from '../actions/table.ts'
import { actionsOf } from '../core/actions/call-action.ts'
import { answering } from '../core/answers/fault.ts'
import type { HandlerResult } from '../core/answers/result.ts'
import { createWorker, type Worker } from '../core/delivery/worker.ts'
import { EXPIRES_IN_MS } from '../core/dispatch/accept-dispatch.ts'
import { fallBack } from '../core/dispatch/fall-back.ts'
import { planAndAccept } from '../core/dispatch/handle-dispatch.ts'
import type { Action } from '../core/endpoints.ts'
import type { RecordDeps, SessionRunDeps } from '../core/runs/record-deps.ts'
import type { DispatchAnswer, DispatchInput, EventTypeOf } from '../model/dispatch.ts'
import type { Measure } from '../model/measurement.ts'
import type { PluginCore } from '../plugins/plugin.ts'
import type { SallyportStore } from '../ports/sallyport-store.ts'
import { localQueue } from '../queues/local.ts'
import { catalogueOf } from '../services/catalogue.ts'
import { type DispatchCallOptions, dispatchFromHost, dispatchOrThrow, hostPrincipal } from '../services/dispatch.ts'
import { createDispatches, type Dispatches } from '../services/dispatches.ts'
import { backgroundWork } from './background-work.ts'
import type { ReadyPorts } from './defaults.ts'
import { deliverDue, dispatchAction } from './endpoints.ts'
import { watchForWorker } from './missing-worker.ts'
import type { SallyportOptions } from './options.ts'
import { pluginCommits } from './plugin-commit.ts'
import { joinPolicies } from './plugin-policies.ts'
import type { JoinedPlugins } from './plugins.ts'

/** Members of a Sallyport that dispatches. */
export interface OutboundMembers<Events> {
  /**
   * Accepts an event from the host, as an application. Returns the answers of the endpoint and never throws; a refusal is logged as
   * `dispatch.refused`.
   */
  dispatch<Type extends EventTypeOf<Events>>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<HandlerResult<DispatchAnswer>>
  /**
   * {@link dispatch} for code in which a refusal is an error, such as a transaction that must roll back.
   *
   * @example
   * ```ts
   * await sallyport.dispatchOrThrow({ eventType: 'order.placed', recipient: 'user_42' }, { store: store.within(trx) })
   * ```
   *
   * @throws {SallyportError} The refusal, by a rejection: its `code`, `status` and `errors`.
   */
  dispatchOrThrow<Type extends EventTypeOf<Events>>(
    event: DispatchInput<Events, Type>,
    options?: DispatchCallOptions,
  ): Promise<DispatchAnswer>
  readonly dispatches: Dispatches
}

/** The half of a host that dispatches. */
export interface Outbound<Events> {
  readonly members: OutboundMembers<Events>
  /** Dependencies of recording runs. */
  readonly recording: Omit<SessionRunDeps & RecordDeps, 'store'> & { readonly store: SallyportStore }
  readonly worker: Worker
  readonly actions: readonly Action[]
  /** Dispatches for a plugin, as an application. Never throws. */
  readonly dispatchFor: NonNullable<PluginCore['dispatch']>
  readonly fallBack: NonNullable<PluginCore['fallBack']>
  readonly commits: Required<Pick<PluginCore, 'plan' | 'commit'>>
  /** Sends what is due, and waits for hooks. */
  deliver(): Promise<void>
}

export function outboundOf<Events>(
  given: Omit<SallyportOptions<Events>, 'links'> & ReadyPorts,
  { parts, data, guard, links, protection, ownEvents }: Omit<JoinedPlugins, 'measures' | 'run' | 'ended'>,
  measure: Measure,
): Outbound<Events> {
  const policy = joinPolicies(parts, given.policy, given.clock)
  const ports = {
    ...given,
    ...(policy && { policy }),
    ...{ queue: given.queue ?? localQueue(given.clock), guard, links, protection, ownEvents, measure },
  }
  const { logger, expiresInMs = EXPIRES_IN_MS } = ports
  if (ports.sandbox) logger.log('warn', 'sandbox.on', { detail: 'everything is recorded, nothing is sent' })

  const background = backgroundWork()
  const watch = watchForWorker(ports)
  const accepting = { ...ports, expiresInMs, background: background.add, onDue: watch.accepted }
  const worker = watch.noticing(createWorker({ ...ports, expiresInMs }, given.worker))

  const dispatches = createDispatches({ ...accepting, plugins: data })
  return {
    members: {
      dispatch: (event, options = {}) => dispatchFromHost(event, options, accepting),
      dispatchOrThrow: (event, options = {}) => dispatchOrThrow(event, options, accepting),
      dispatches,
    },
    recording: accepting,
    worker,
    actions: [
      dispatchAction(accepting, ports),
      ...actionsOf(DISPATCH_ACTIONS, dispatches),
      ...actionsOf(CATALOGUE_ACTIONS, catalogueOf(ports)),
    ],
    commits: pluginCommits(accepting),
    fallBack: (dispatch, deliveryId) => fallBack(dispatch, deliveryId, accepting),
    dispatchFor: (tenant, body, { key, causedBy } = {}) =>
      answering<unknown>(accepting, () =>
        planAndAccept(hostPrincipal(tenant), { headers: {}, body }, accepting, {
          ...(key !== undefined && { key }),
          ...(causedBy && { causedBy }),
        }),
      ),
    async deliver() {
      await deliverDue(worker, accepting)
      await background.done()
    },
  }
}

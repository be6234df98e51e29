import type { SendLimit } from '../../../../src/ports/delivery-policy.ts'
import type { DispatchQuery } from '../../../../src/ports/dispatch-query.ts'
import type { Acceptance, ClaimRequest, LeaseToken } from '../../../../src/ports/dispatch-store.ts'
import { readReplannable } from '../../../../src/storage/rules/dispatch-changes.ts'
import { type DispatchRow, ownersOf } from '../../../../src/storage/rules/dispatch-rows.ts'
import { acceptanceOf, plannedFor, settlementOf } from '../../../core/delivery/acceptance.ts'
import { CHANNELS, type Operation, operation, TENANTS } from '../../../core/delivery/operations.ts'
import type { Chance } from '../../../labs/chaos/chance.ts'
import { fc } from '../../../support/properties.ts'
import {
  accept,
  type Call,
  cancel,
  countDue,
  erase,
  fallBack,
  findByDelivery,
  findData,
  findDispatch,
  findReplannable,
  forget,
  list,
  recall,
  redact,
  remove,
  renew,
  replan,
  retry,
  settle,
} from './calls.ts'
import { claim } from './claim-call.ts'
import type { DispatchModel } from './dispatch-model.ts'

/** A call, or time that passes. */
export type Step = Call | { readonly waitMs: number }

/** What drawn calls may name. */
export interface Drawing {
  readonly model: DispatchModel
  readonly chance: Chance
  readonly now: number
  /** Leases of earlier claims, newest last; many are over. */
  readonly leases: readonly LeaseToken[]
  readonly after: NonNullable<ClaimRequest['after']>
  newId(): string
}

/** The dispatch that a call is about: the second of a pair is often about the same one. */
type Target = DispatchRow | undefined

const QUOTAS: readonly SendLimit[] = [
  { key: 'one in ten seconds', max: 1, windowMs: 10_000 },
  { key: 'three a minute', max: 3, windowMs: 60_000 },
]
const STATUSES = ['queued', 'sent', 'partial', 'failed', 'cancelled', 'skipped'] as const
const REASONS = ['throttled', 'provider_rejected', 'template_error', 'fallback_unneeded', 'expired'] as const
const WAITS = ['quiet_hours', 'policy', 'receiver_paused', 'unavailable'] as const
const DRAWN_AT_ONCE = 1_000

/** Operations without end, equal for equal seeds. */
export function* operations(seed: number): Generator<Operation, never> {
  for (let part = 0; ; part++) yield* fc.sample(operation, { seed: seed * 10_007 + part, numRuns: DRAWN_AT_ONCE })
}

/** A step for an operation; `undefined` if nothing is stored that it could be about. */
export function stepFor(one: Operation, on: Drawing, target: Target): Step | undefined {
  const { model, chance } = on
  switch (one.do) {
    case 'wait':
      return { waitMs: one.ms }
    case 'accept':
      return accept(varied(acceptanceOf(one, on.newId()), chance))
    case 'claim': {
      const { do: _, ...request } = one
      return claim({ ...request, after: on.after })
    }
    case 'settle':
    case 'renew': {
      const proof = leaseFor(one.lease, one.live, on, target)
      if (!proof) return undefined
      if (one.do === 'renew') return renew(proof, one.leaseMs)
      const isRendered = model.leased(proof)?.content !== undefined
      const settlement = settlementOf(proof, one.ending, isRendered)
      const isWaiting = settlement.to === 'queued' && chance.next() < 0.5
      return settle(isWaiting ? { ...settlement, waitsFor: chance.of(WAITS) } : settlement)
    }
    case 'list':
      return list(listQuery(chance, on.now))
    case 'replan':
      return replanFor(one, on, target)
    default: {
      const row = target ?? rowAt(model, one.dispatch)
      if (!row) return undefined
      const { dispatchId, tenant } = row.head
      const asked = one.stranger ? chance.of(TENANTS) : tenant
      if (one.do === 'cancel') return cancel(asked, dispatchId)
      const { channel, expiresInMs = 0 } = one
      return retry(asked, dispatchId, { expiresInMs, ...(channel !== undefined && { channel }) })
    }
  }
}

/** A call that the operations do not have. */
export function otherStep({ model, chance, now }: Drawing, target: Target): Step | undefined {
  const row = target ?? rowAt(model, chance.between(0, 999))
  if (!row) return undefined
  const { dispatchId, tenant, recipient } = row.head
  const delivery = chance.of(row.deliveries)
  const sent = model.deliveries().filter(({ status }) => status === 'sent')
  const some: readonly (() => Call)[] = [
    () => fallBack(tenant, (sent.length > 0 && chance.next() < 0.7 ? chance.of(sent) : delivery).deliveryId),
    () => fallBack(tenant, delivery.deliveryId),
    () => erase(chance.next() < 0.1 ? chance.of(TENANTS) : tenant, dispatchId),
    () => redact(tenant, recipient, [dispatchId]),
    () =>
      remove({
        ...(chance.next() < 0.5 && { tenant }),
        acceptedForMs: chance.of([0, 1_000, 60_000, 600_000]),
        limit: chance.of([1, 2, 5, 100]),
      }),
    () => forget(chance.of([1, 5, 100])),
    () => findByDelivery(tenant, delivery.deliveryId),
    () => findDispatch(chance.of(TENANTS), dispatchId),
    () => findData(tenant, dispatchId),
    () => findReplannable(tenant, dispatchId),
    () => recall(tenant, chance.of(['k1', 'k2', 'k3', 'k4'])),
    () =>
      countDue({
        ...(chance.next() < 0.5 && { tenant }),
        channels: CHANNELS.filter(() => chance.next() < 0.6),
        limit: chance.of([1, 3, 100]),
      }),
    () => list(listQuery(chance, now)),
  ]
  return chance.of(some)()
}

/** With quotas, several recipients of one digest key, priorities, locales and causes of waits. */
function varied(acceptance: Acceptance, chance: Chance): Acceptance {
  const deliveries = acceptance.dispatch.deliveries.map((one) => {
    const isWaiting = one.status === 'queued' && (one.delayMs ?? 0) > 0 && chance.next() < 0.3
    return { ...one, ...(isWaiting && { waitsFor: chance.of(WAITS), deferred: true as const }) }
  })
  const dispatch = {
    ...{ ...acceptance.dispatch, deliveries },
    ...(chance.next() < 0.2 && { locale: 'de' }),
    ...(chance.next() < 0.2 && { priority: 'urgent' as const }),
  }
  return { ...acceptance, dispatch, ...(chance.next() < 0.4 && { quotas: [chance.of(QUOTAS)] }) }
}

function rowAt({ dispatches }: DispatchModel, place: number): Target {
  const all = [...dispatches.values()]
  return all[place % all.length]
}

function leaseFor(place: number, isLive: boolean, { model, leases }: Drawing, target: Target): LeaseToken | undefined {
  const fitting = leases.filter((lease) => (model.leased(lease) !== undefined) === isLive)
  const own = target?.deliveries.map(({ deliveryId }) => deliveryId) ?? []
  const near = fitting.filter(({ deliveryId }) => own.includes(deliveryId))
  const some = near.length > 0 ? near : fitting
  return some[place % some.length]
}

function replanFor(
  one: Extract<Operation, { readonly do: 'replan' }>,
  { model, chance, now }: Drawing,
  target: Target,
): Step | undefined {
  const broken = [...model.dispatches.values()].filter((row) => readReplannable(row, now))
  const row = target && broken.includes(target) ? target : broken[one.dispatch % broken.length]
  const found = row && readReplannable(row, now)
  if (!row || !found) return undefined
  const { dispatchId, tenant, route, recipient } = row.head
  const places = found.failed.slice(0, one.wanted.length)
  const wanted = one.wanted.slice(0, places.length)
  const deliveries = plannedFor(places, wanted, { ...one, route, recipient }, dispatchId)
  const options = { expiresInMs: one.expiresInMs, ...(one.channel !== undefined && { channel: one.channel }) }
  const asked = one.stranger ? chance.of(TENANTS) : tenant
  return replan(asked, dispatchId, found.version - (one.stale ? 1 : 0), deliveries, options)
}

function listQuery(chance: Chance, now: number): DispatchQuery {
  const some = <T>(value: T): T | undefined => (chance.next() < 0.25 ? value : undefined)
  return {
    ...{ tenant: chance.of(TENANTS), limit: chance.of([1, 2, 100]), first: chance.of(['oldest', 'newest'] as const) },
    ...{ status: some(chance.of(STATUSES)), recipient: some(chance.of(['r1', 'r2', 'erased'])) },
    ...{ sessionId: some(chance.of(['s1', 's2'])), eventType: some('e'), channel: some(chance.of(CHANNELS)) },
    ...{ reason: some(chance.of(REASONS)), since: some(now - 60_000), until: some(now - 500) },
  }
}

/** The dispatch that a call is about, for the second call of a pair. */
export function targetOf({ given }: Call, model: DispatchModel): Target {
  const { dispatchId, deliveryId, lease } = Object(given)
  if (dispatchId !== undefined) return model.dispatches.get(dispatchId)
  const id = deliveryId ?? lease?.deliveryId
  const row = model.deliveries().find((one) => one.deliveryId === id)
  return row && [...ownersOf(row)][0]
}

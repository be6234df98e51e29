import { type Dispatch, type DispatchStatus, statusOfDispatch } from '../../../src/model/dispatch.ts'
import type { DeliveryChange } from '../../../src/model/dispatch-results.ts'
import type {
  ClaimedDelivery,
  ClaimRequest,
  Claims,
  DispatchStore,
  LeaseToken,
  NewDelivery,
} from '../../../src/ports/dispatch-store.ts'
import type { FakeClock } from '../../support/fake-clock.ts'
import { acceptanceOf, replacementOf, settlementOf } from './acceptance.ts'
import { checkModel } from './compare.ts'
import { deliveryModel, hostFailuresOf, type ModelDelivery, type ModelDispatch } from './delivery-model.ts'
import {
  type Admission,
  checkClaimed,
  checkDigests,
  checkLimits,
  checkReport,
  checkStanding,
  checkStep,
  type DigestedOn,
  hold,
  isFinal,
} from './invariants.ts'
import { type Accept, type Change, type Ending, type List, type Operation, type Replan, TENANTS } from './operations.ts'
import { deliveriesOf, isSame, type Seen, type Snapshot, snapshotOf, takenFrom } from './snapshot.ts'

/** A store and its model, compared after every operation. */
export interface Scenario {
  /** Applies one operation to both and compares them. */
  play(operation: Operation): Promise<void>
  /** Claims and sends until all deliveries are final; throws if one never is. */
  drain(): Promise<void>
}

/** The reported changes of an operation; `undefined` if nothing may have changed. */
type Reported =
  | undefined
  | {
      readonly what: string
      readonly changes: readonly DeliveryChange[]
      readonly own?: (one: Seen['delivery']) => boolean
    }

const EVERYTHING: ClaimRequest = { leaseMs: 1_000, limits: { a: 99, b: 99, c: 99, d: 99 }, busy: [] }
const RENDER: Ending = { to: 'queued', delayMs: 0, rendered: true }
const STATUSES: readonly DispatchStatus[] = ['queued', 'sent', 'partial', 'failed', 'cancelled', 'skipped']
const SEND: Ending = { to: 'sent', attempt: { outcome: 'sent' } }

/** @param note Receives a short note of each change. */
export function scenario(store: DispatchStore, clock: FakeClock, note: (what: string) => void): Scenario {
  const model = deliveryModel(clock.now)
  const leases: LeaseToken[] = []
  const fences = new Set<string>()
  const digested: DigestedOn[] = []
  const admissions: Admission[] = []
  const limited = new Map<string, Admission[]>()
  /** The cursor of the claims, as a worker keeps it. */
  let after: NonNullable<ClaimRequest['after']> = {}
  /** Claims in a row that gave a tenant nothing, by channel and tenant, although it had due deliveries. */
  const waits = new Map<string, number>()
  let snapshot: Snapshot = []
  let seen: ReadonlyMap<string, Seen> = new Map()
  let count = 0
  let checks = 0

  async function accept(operation: Accept): Promise<Reported> {
    const dispatchId = `d${++count}`
    const acceptance = acceptanceOf(operation, dispatchId)
    const expected = model.accept(acceptance)
    const { outcome } = takenFrom(await store.accept(acceptance))
    hold('a key makes one dispatch until it is forgotten', outcome === expected, () => ({ outcome, expected }))
    note(outcome)
    if (outcome !== 'accepted') return undefined
    const { tenant, deliveries } = acceptance.dispatch
    watch(dispatchId, tenant, deliveries)
    return { what: 'an acceptance', changes: [], own: () => true }
  }

  function watch(dispatchId: string, tenant: string, deliveries: readonly NewDelivery[]): void {
    for (const { deliveryId, channel, digest, limits = [] } of deliveries) {
      if (digest) digested.push({ dispatchId, channel })
      const all = limits.map((limit) => ({ tenant, limit, at: 0 }))
      if (all.length > 0) limited.set(deliveryId, all)
    }
  }

  async function claim(asked: ClaimRequest): Promise<Claims> {
    const request = { ...asked, after }
    const leaseEnds = new Map(model.deliveries().map((one) => [one.deliveryId, one.wakeAt]))
    const due = model.deliveries().filter((one) => model.isDue(one, request))
    const mayExpire = model.deliveries().filter(model.mayExpire)
    const claims = takenFrom(await store.claim(request))
    after = { ...after, ...claims.last }
    checkClaimed(snapshot, claims.deliveries, leaseEnds, clock.now())
    const isReported = ({ deliveryId }: ModelDelivery): boolean =>
      claims.expired.some((reported) => reported.deliveryId === deliveryId)
    const dueAt = new Map(due.map((one) => [one.deliveryId, one.wakeAt]))
    const taken = new Set(mayExpire.filter(isReported))
    for (const one of taken) {
      hold('only deliveries past their expiry expire', model.isExpired(one), () => one.deliveryId)
      model.expire(one)
    }
    const partial = new Set(request.full?.map(({ channel }) => channel))
    for (const one of due) {
      if (taken.has(one) || !(await isCancellationApplied(one, claims.deliveries))) continue
      model.applyCancellations(one)
      partial.add(one.channel)
    }
    for (const one of due) if (isFinal(one)) taken.add(one)
    for (const one of claims.deliveries) {
      const found = due.find(({ deliveryId }) => deliveryId === one.deliveryId)
      hold('only due, requested and idle deliveries are claimed', found !== undefined, () => ({ one, request }))
      if (!found) continue
      lease(one, found, request)
      taken.add(found)
    }
    const left = due.filter((one) => !taken.has(one))
    // With `nextDueInMs` 0 the next claim leases the others.
    const mayLeave = (channel: string): boolean => claims.nextDueInMs === 0 && partial.has(channel)
    checkLeftOut(claims, request, left, mayLeave)
    checkTurns(claims, request, left, dueAt, mayLeave)
    return claims
  }

  /** Whether a claim has applied the pending cancellations of a delivery whose worker crashed. */
  async function isCancellationApplied(one: ModelDelivery, claimed: Claims['deliveries']): Promise<boolean> {
    const { status, cancelledBy, deliveryId, home } = one
    if (status !== 'sending' || cancelledBy.size === 0) return false
    if (claimed.some((other) => other.deliveryId === deliveryId)) return true
    const found = await store.findDispatch(home.tenant, home.dispatchId)
    return found?.deliveries.find((other) => other.deliveryId === deliveryId)?.status !== 'sending'
  }

  function lease(one: ClaimedDelivery, found: ModelDelivery, { leaseMs }: ClaimRequest): void {
    hold('a delivery past its expiry expires', !model.isExpired(found), () => one)
    hold('a fence is new for every claim', !fences.has(one.fence), () => one)
    fences.add(one.fence)
    // The second token belongs to another delivery and is not live.
    leases.push(one, { fence: one.fence, deliveryId: leases.at(-1)?.deliveryId ?? one.deliveryId })
    const outcomes = one.history.map(({ outcome }) => outcome)
    const reported = [one.attempts, one.attemptsBefore ?? 0, outcomes, one.expiresInMs]
    const log = found.log.map((end) => end?.outcome)
    const expected = [found.attempts + 1, found.attemptsBefore, log, found.expiresAt - clock.now()]
    hold('a claim has the history and the time to the expiry', isSame(reported, expected), () => ({
      reported,
      expected,
    }))
    model.lease(found, one.fence, leaseMs)
  }

  /** Due deliveries are left out only at a limit, and `nextDueInMs` is never too late. */
  function checkLeftOut(
    claims: Claims,
    { limits, busy, full = [] }: ClaimRequest,
    left: readonly ModelDelivery[],
    mayLeave: (channel: string) => boolean,
  ): void {
    const given = (channel: string): number => claims.deliveries.filter((one) => one.channel === channel).length
    for (const [channel, limit] of Object.entries(limits)) {
      const own = left.filter((one) => one.channel === channel)
      hold('a claim keeps the limit of each channel', given(channel) <= limit, () => claims.deliveries)
      const isEnough = own.length === 0 || given(channel) === limit || mayLeave(channel)
      hold('due deliveries are claimed up to the limit', isEnough, () => own.map(({ deliveryId }) => deliveryId))
    }
    const next = model.deliveries().filter(({ status, channel, concurrencyKey, home }) => {
      if (full.some((one) => one.channel === channel && one.tenant === home.tenant)) return false
      const isBusy = busy.some(
        ({ tenant = home.tenant, ...one }) =>
          one.channel === channel && one.concurrencyKey === concurrencyKey && tenant === home.tenant,
      )
      return (status === 'queued' || status === 'sending') && given(channel) < (limits[channel] ?? 0) && !isBusy
    })
    const earliest = Math.min(...next.map(({ wakeAt }) => Math.max(0, wakeAt - clock.now())), Number.POSITIVE_INFINITY)
    const { nextDueInMs = Number.POSITIVE_INFINITY } = claims
    hold('nextDueInMs is not later than the next delivery', nextDueInMs <= earliest, () => ({
      nextDueInMs,
      earliest,
    }))
  }

  /** Of each tenant the oldest are claimed, the limit is shared equally, and each tenant soon has its turn. */
  function checkTurns(
    claims: Claims,
    { limits }: ClaimRequest,
    left: readonly ModelDelivery[],
    dueAt: ReadonlyMap<string, number>,
    mayLeave: (channel: string) => boolean,
  ): void {
    for (const channel of Object.keys(limits)) {
      const counts = TENANTS.map((tenant) => {
        const given = claims.deliveries.filter((one) => one.channel === channel && one.dispatch.tenant === tenant)
        const own = left.filter((one) => one.channel === channel && one.home.tenant === tenant)
        const latest = Math.max(...given.map(({ deliveryId }) => dueAt.get(deliveryId) ?? Number.NaN))
        const isOldest = given.length === 0 || own.every(({ wakeAt }) => wakeAt >= latest)
        hold('the oldest of a tenant are claimed first', isOldest, () => ({ channel, tenant, given, own }))
        const name = `${channel} ${tenant}`
        const wait = given.length === 0 && own.length > 0 && limits[channel] ? (waits.get(name) ?? 0) + 1 : 0
        waits.set(name, wait)
        hold('every tenant has its turn within as many claims as there are tenants', wait < TENANTS.length, () => name)
        return { given: given.length, left: own.length }
      })
      const share = Math.floor((limits[channel] ?? 0) / TENANTS.length)
      const isShared = counts.every(({ given, left }) => left === 0 || given >= share)
      hold('a tenant with more due deliveries gets its equal share', isShared || mayLeave(channel), () => counts)
    }
  }

  /** One of the live leases, or of the stale ones. */
  function pick(place: number, live: boolean): LeaseToken | undefined {
    const fitting = leases.filter(({ deliveryId, fence }) => model.isLive(deliveryId, fence) === live)
    return fitting[place % fitting.length]
  }

  async function settle(proof: LeaseToken, ending: Ending): Promise<Reported> {
    const settlement = settlementOf(proof, ending, model.find(proof.deliveryId)?.content !== undefined)
    const isLive = model.isLive(proof.deliveryId, proof.fence)
    const settled = takenFrom(await store.settle(settlement))
    hold('a settlement counts if and only if its lease is live', settled.live === isLive, () => settlement)
    if (!settled.live) return undefined
    model.settle(settlement)
    return { what: 'a settlement', changes: settled.others, own: ({ deliveryId }) => deliveryId === proof.deliveryId }
  }

  async function renew(proof: LeaseToken, leaseMs: number): Promise<Reported> {
    const isLive = model.isLive(proof.deliveryId, proof.fence)
    const renewed = await store.renew(proof, leaseMs)
    hold('a lease is renewed if and only if it is live', renewed === isLive, () => ({ proof, renewed }))
    if (renewed) model.renew(proof.deliveryId, leaseMs)
    return undefined
  }

  /** Any dispatch, or for every other retry one with a failed or expired delivery. */
  function dispatchFor({ do: what, dispatch }: Change): ModelDispatch | undefined {
    const bad = model.dispatches.filter(({ deliveries }) => deliveries.every(isFinal) && deliveries.some(isRetriable))
    const among = what === 'retry' && dispatch % 2 === 0 && bad.length > 0 ? bad : model.dispatches
    return among[dispatch % among.length]
  }

  async function change(operation: Change): Promise<Reported> {
    const { tenant, dispatchId } = dispatchFor(operation) ?? { tenant: 't1', dispatchId: 'none' }
    const asked = operation.stranger ? (TENANTS.find((one) => one !== tenant) ?? tenant) : tenant
    const { do: what, channel, expiresInMs = 0 } = operation
    const options = { expiresInMs, ...(channel !== undefined && { channel }) }
    const expected = model[what](asked, dispatchId, options)
    const changed = await (what === 'cancel'
      ? store.cancel(asked, dispatchId)
      : store.retry(asked, dispatchId, options))
    const ids = changed?.changed.map(({ deliveryId }) => deliveryId)
    hold(`a ${what} changes the expected deliveries`, isSame(ids, expected), () => ({ ids, expected }))
    const found = takenFrom(changed && (await store.findDispatch(tenant, dispatchId)))
    hold(`a ${what} returns the stored dispatch`, isSame(changed?.dispatch, found), () => ({ changed, found }))
    return changed && changed.changed.length > 0 ? { what: `a ${what}`, changes: changed.changed } : undefined
  }

  async function replan(operation: Replan): Promise<Reported> {
    const broken = model.dispatches.filter((one) => hostFailuresOf(one).length > 0)
    const dispatch = broken[operation.dispatch % broken.length]
    if (!dispatch) return undefined
    const { tenant, dispatchId } = dispatch
    const asked = operation.stranger ? (TENANTS.find((one) => one !== tenant) ?? tenant) : tenant
    const failed = hostFailuresOf(dispatch)
    const found = takenFrom(await store.findReplannable(asked, dispatchId))
    const ids = found?.failed.map(({ deliveryId }) => deliveryId)
    const expectedIds = asked === tenant ? failed.map(({ deliveryId }) => deliveryId) : undefined
    hold('host failures can be replanned', isSame(ids, expectedIds), () => ({ ids, expectedIds }))
    hold('a replan has its source', !found || found.source.eventData.dispatchId === dispatchId, () => found)
    const { channel, expiresInMs, stale } = operation
    const options = { expiresInMs, ...(channel !== undefined && { channel }) }
    const deliveries = replacementOf(operation, dispatch, failed)
    const wasDecided = dispatch.replans
    const expected = model.replan(asked, dispatchId, stale, deliveries, options)
    const version = (found?.version ?? 1) - (stale ? 1 : 0)
    const outcome = takenFrom(await store.replan(asked, dispatchId, version, deliveries, options))
    const changed = outcome?.outcome === 'replanned' ? outcome.changed : undefined
    const reported = outcome?.outcome === 'conflict' ? 'conflict' : changed?.map(({ deliveryId }) => deliveryId)
    hold('a replan changes the expected deliveries, and a stale one none', isSame(reported, expected), () => ({
      reported,
      expected,
    }))
    const left = await store.findReplannable(tenant, dispatchId)
    hold(
      'the source is kept until no host failure is left',
      (left === undefined) === (dispatch.replans === undefined),
      () => left,
    )
    if (!changed || changed.length === 0) return undefined
    if (dispatch.replans !== wasDecided) watch(dispatchId, tenant, deliveries)
    note(`replanned ${dispatch.route}`)
    return { what: 'a replan', changes: changed }
  }

  async function list({ recipient, sessionId, limit }: List): Promise<Reported> {
    for (const tenant of TENANTS) {
      const query = { tenant, limit, ...(recipient && { recipient }), ...(sessionId && { sessionId }) }
      const items: Dispatch[] = []
      let cursor: string | undefined
      do {
        const page = takenFrom(await store.listDispatches({ ...query, ...(cursor !== undefined && { cursor }) }))
        hold('a page keeps its limit', page.items.length <= limit, () => query)
        items.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      const fits = (one: Dispatch): boolean =>
        one.tenant === tenant &&
        [undefined, one.recipient].includes(recipient) &&
        [undefined, one.sessionId].includes(sessionId)
      hold('a list is filtered, newest first', isSame(items, snapshot.filter(fits).toReversed()), () => items)
    }
    return undefined
  }

  async function act(operation: Operation): Promise<Reported> {
    switch (operation.do) {
      case 'accept':
        return accept(operation)
      case 'claim': {
        const { expired } = await claim(operation)
        return {
          what: 'a claim',
          changes: expired,
          own: ({ status }) => status === 'sending' || status === 'cancelled',
        }
      }
      case 'settle':
      case 'renew': {
        const proof = pick(operation.lease, operation.live)
        if (!proof) return undefined
        return operation.do === 'settle' ? settle(proof, operation.ending) : renew(proof, operation.leaseMs)
      }
      case 'list':
        return list(operation)
      case 'wait':
        clock.advance(operation.ms)
        return undefined
      case 'replan':
        return replan(operation)
      default:
        return change(operation)
    }
  }

  function noteChanges(was: ReadonlyMap<string, Seen>): void {
    for (const [id, { delivery }] of seen) {
      const old = was.get(id)?.delivery
      const { status, reason, eventCount = 0, attempts } = delivery
      if (status !== old?.status) note(`${old?.status ?? 'new'} > ${status}${reason ? ` ${reason}` : ''}`)
      else if (status === 'sending' && attempts > old.attempts) note('sending > sending')
      if (eventCount > (old?.eventCount ?? 1)) note('joined')
      if (status === 'cancelled' && eventCount > 0 && (old?.eventCount ?? 0) > 1) note('taken out')
    }
  }

  /** Records deliveries that were queued for the first time, and checks their limits. */
  function noteAdmission(): void {
    for (const { delivery } of seen.values()) {
      const limits = delivery.status === 'queued' ? limited.get(delivery.deliveryId) : undefined
      if (!limits) continue
      limited.delete(delivery.deliveryId)
      admissions.push(...limits.map(({ tenant, limit }) => ({ tenant, limit, at: clock.now() })))
      checkLimits(admissions)
    }
  }

  async function checked(operation: Operation, act: () => Promise<Reported>): Promise<void> {
    const reported = await act()
    const [before, was] = [snapshot, seen]
    snapshot = await snapshotOf(store)
    seen = deliveriesOf(snapshot)
    if (!reported)
      hold(`a ${operation.do} without an effect changes nothing`, isSame(before, snapshot), () => ({
        operation,
        before,
        snapshot,
      }))
    else checkReport(reported.what, was, seen, reported.changes, reported.own)
    checkStep(was, seen, operation)
    checkStanding(snapshot)
    noteChanges(was)
    noteAdmission()
    checkDigests(seen, digested)
    checkModel(model, snapshot)
    await checkStatus()
  }

  /** Checks the list of one status at a time: a wrong status persists. */
  async function checkStatus(): Promise<void> {
    const tenant = TENANTS[++checks % TENANTS.length] ?? 't1'
    const status = STATUSES[Math.floor(checks / TENANTS.length) % STATUSES.length]
    const { items } = await store.listDispatches({ tenant, status, limit: 999 })
    const fits = (one: Dispatch): boolean => one.tenant === tenant && statusOf(one) === status
    hold('a list is filtered by status', isSame(items, snapshot.filter(fits).toReversed()), () => ({
      status,
      items,
      snapshot,
    }))
  }

  return {
    play: (operation) => checked(operation, () => act(operation)),

    async drain() {
      for (let round = 0; round < 200; round++) {
        let claims: Claims = { deliveries: [], expired: [] }
        await checked({ do: 'claim', ...EVERYTHING }, async () => {
          claims = await claim(EVERYTHING)
          return {
            what: 'a claim',
            changes: claims.expired,
            own: ({ status }) => status === 'sending' || status === 'cancelled',
          }
        })
        for (const one of claims.deliveries) {
          const ending = one.content ? SEND : RENDER
          await checked({ do: 'settle', lease: 0, live: true, ending }, () => settle(one, ending))
        }
        const left = [...seen.values()].filter(({ delivery }) => !isFinal(delivery))
        if (left.length === 0) return
        if (claims.deliveries.length > 0) continue
        hold('a delivery that is not final becomes due', (claims.nextDueInMs ?? 0) > 0, () => left)
        clock.advance(claims.nextDueInMs ?? 0)
      }
      hold('every delivery becomes final', false, () => snapshot)
    },
  }
}

function statusOf({ deliveries, route }: Dispatch): DispatchStatus {
  return statusOfDispatch(
    deliveries.map(({ status }) => status),
    route,
  )
}

function isRetriable({ status, attempts }: ModelDelivery): boolean {
  return attempts > 0 && (status === 'failed' || status === 'expired')
}

import type { Dispatch } from '../../../../src/model/dispatch.ts'
import { statusOfDispatch } from '../../../../src/model/dispatch.ts'
import type { DispatchQuery } from '../../../../src/ports/dispatch-query.ts'
import type { DispatchRemoval } from '../../../../src/ports/dispatch-removal.ts'
import type {
  Acceptance,
  DispatchStore,
  LeaseToken,
  NewDelivery,
  ReplanOutcome,
  RetryRequest,
  Settlement,
} from '../../../../src/ports/dispatch-store.ts'
import type { DueQuery } from '../../../../src/ports/due-query.ts'
import { settleDelivery } from '../../../../src/storage/rules/delivery-transitions.ts'
import {
  cancelDispatch,
  fallBackDispatch,
  readReplannable,
  replanDispatch,
  requeueDispatch,
} from '../../../../src/storage/rules/dispatch-changes.ts'
import { type DispatchRow, readDispatch } from '../../../../src/storage/rules/dispatch-rows.ts'
import {
  eraseDispatch,
  isErased,
  readDispatchData,
  redactedAnswer,
} from '../../../../src/storage/rules/erasure-rules.ts'
import { hasDelivery } from '../../../../src/storage/rules/has-delivery.ts'
import { isSame } from '../../../core/delivery/snapshot.ts'
import type { DispatchModel } from './dispatch-model.ts'

/** The dispatch as the store has it after the call or the pair of calls. */
export type Seen = (tenant: string, dispatchId: string) => Promise<Dispatch | undefined>

/** What a model compares an answer with. */
export interface Checking {
  readonly model: DispatchModel
  readonly now: number
  readonly seen: Seen
  /** Another call ran at the same time. */
  readonly isPaired: boolean
}

/** One call of a store, with its arguments. */
export interface Call {
  readonly name: string
  /** For messages. */
  readonly given: unknown
  run(store: DispatchStore): Promise<unknown>
  /** Makes the call on a model. @throws {Mismatch} If the store's answer is not allowed. */
  check(answer: unknown, on: Checking): Promise<void>
}

/** An answer or a record that the model does not allow. */
export class Mismatch extends Error {}

export function expectSame(what: string, found: unknown, expected: unknown): void {
  if (isSame(found, expected) || isSame(plain(found), plain(expected))) return
  throw new Mismatch(`${what}\n  store: ${JSON.stringify(found)}\n  model: ${JSON.stringify(expected)}`)
}

/** Without members that are `undefined`. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

/** A call whose answer the model knows exactly. */
function exact<T>(
  name: string,
  given: unknown,
  run: (store: DispatchStore) => Promise<T>,
  expected: (on: Checking, answer: T) => T,
): Call {
  return {
    ...{ name, given, run },
    check: async (answer, on) => expectSame(name, answer, expected(on, answer as T)),
  }
}

export const accept = (acceptance: Acceptance): Call =>
  exact(
    'accept',
    acceptance,
    (store) => store.accept(acceptance),
    ({ model }) => model.accept(acceptance),
  )

export const recall = (tenant: string, key: string): Call =>
  exact(
    'recall',
    { tenant, key },
    (store) => store.recall(tenant, key),
    ({ model }) => {
      const found = model.recall(tenant, key)
      return found && { fingerprint: found.fingerprint, answer: found.answer }
    },
  )

export const settle = (settlement: Settlement): Call =>
  exact(
    'settle',
    settlement,
    (store) => store.settle(settlement),
    ({ model, now }) => {
      const row = model.leased(settlement)
      return row ? settleDelivery(row, settlement, now, model.transitions) : { live: false }
    },
  )

export const renew = (lease: LeaseToken, leaseMs: number): Call =>
  exact(
    'renew',
    { lease, leaseMs },
    (store) => store.renew(lease, leaseMs),
    ({ model, now }) => {
      const row = model.leased(lease)
      if (row) model.index.schedule(row, now + leaseMs)
      return row !== undefined
    },
  )

export const cancel = (tenant: string, dispatchId: string): Call =>
  exact(
    'cancel',
    { tenant, dispatchId },
    (store) => store.cancel(tenant, dispatchId),
    ({ model }) => {
      const row = model.find(tenant, dispatchId)
      return row && { changed: cancelDispatch(row, model.transitions), dispatch: readDispatch(row) }
    },
  )

export const retry = (tenant: string, dispatchId: string, options: RetryRequest): Call =>
  exact(
    'retry',
    { tenant, dispatchId, options },
    (store) => store.retry(tenant, dispatchId, options),
    ({ model, now }) => {
      const row = model.find(tenant, dispatchId)
      return row && { changed: requeueDispatch(row, options, now, model.transitions), dispatch: readDispatch(row) }
    },
  )

/** Of a shared delivery, the model follows the dispatch that the store chose. A cancelled part of a digest need not be found. */
export const fallBack = (tenant: string, deliveryId: string): Call =>
  exact(
    'fallBack',
    { tenant, deliveryId },
    (store) => store.fallBack(tenant, deliveryId),
    ({ model, now }, answer) => {
      const row = chosen(deliveryId, model.ownersOf(tenant, deliveryId), answer?.dispatch.dispatchId)
      if (!row) return undefined
      return { changed: fallBackDispatch(row, deliveryId, now, model.transitions), dispatch: readDispatch(row) }
    },
  )

export const findByDelivery = (tenant: string, deliveryId: string): Call =>
  exact(
    'findByDelivery',
    { tenant, deliveryId },
    (store) => store.findByDelivery(tenant, deliveryId),
    ({ model }, answer) => {
      const row = chosen(deliveryId, model.ownersOf(tenant, deliveryId), answer?.dispatchId)
      return row && readDispatch(row)
    },
  )

function chosen(
  deliveryId: string,
  rows: readonly DispatchRow[],
  dispatchId: string | undefined,
): DispatchRow | undefined {
  const isLeft = ({ deliveries }: DispatchRow): boolean =>
    deliveries.some((row) => row.deliveryId === deliveryId && row.digest !== undefined && row.status === 'cancelled')
  if (dispatchId === undefined && rows.every(isLeft)) return undefined
  return rows.find(({ head }) => head.dispatchId === dispatchId) ?? rows[0]
}

export const findDispatch = (tenant: string, dispatchId: string): Call =>
  exact(
    'findDispatch',
    { tenant, dispatchId },
    (store) => store.findDispatch(tenant, dispatchId),
    ({ model }) => {
      const row = model.find(tenant, dispatchId)
      return row && readDispatch(row)
    },
  )

export const findData = (tenant: string, dispatchId: string): Call =>
  exact(
    'findDispatchData',
    { tenant, dispatchId },
    (store) => store.findDispatchData(tenant, dispatchId),
    ({ model }) => {
      const row = model.find(tenant, dispatchId)
      return row && readDispatchData(row)
    },
  )

export const findReplannable = (tenant: string, dispatchId: string): Call =>
  exact(
    'findReplannable',
    { tenant, dispatchId },
    (store) => store.findReplannable(tenant, dispatchId),
    ({ model, now }) => {
      const row = model.find(tenant, dispatchId)
      return row && readReplannable(row, now)
    },
  )

export const replan = (
  tenant: string,
  dispatchId: string,
  version: number,
  deliveries: readonly NewDelivery[],
  options: RetryRequest,
): Call =>
  exact(
    'replan',
    { tenant, dispatchId, version, deliveries, options },
    (store) => store.replan(tenant, dispatchId, version, deliveries, options),
    ({ model, now }): ReplanOutcome | undefined => {
      const row = model.find(tenant, dispatchId)
      if (!row) return undefined
      const changed = replanDispatch(row, { ...options, version, deliveries }, now, model.index, model.transitions)
      return changed ? { outcome: 'replanned', changed, dispatch: readDispatch(row) } : { outcome: 'conflict' }
    },
  )

export const erase = (tenant: string, dispatchId: string): Call =>
  exact(
    'eraseDispatch',
    { tenant, dispatchId },
    (store) => store.eraseDispatch(tenant, dispatchId),
    ({ model }) => {
      const row = model.find(tenant, dispatchId)
      return row && !isErased(row) ? eraseDispatch(row, model.transitions) : undefined
    },
  )

/** The store may still have expired answers, and count them. */
export function redact(tenant: string, recipient: string, dispatchIds: readonly string[]): Call {
  const erasure = { tenant, recipient, dispatchIds }
  return {
    ...{ name: 'redactAnswers', given: erasure },
    run: (store) => store.redactAnswers(erasure),
    async check(answer, { model, now }) {
      let live = 0
      let expired = 0
      for (const stored of model.answers(tenant)) {
        const redacted = redactedAnswer(erasure, stored.answer)
        if (!redacted) continue
        stored.answer = redacted
        if (stored.expiresAt > now) live += 1
        else expired += 1
      }
      const isAllowed = Number(answer) >= live && Number(answer) <= live + expired
      expectSame('redactAnswers', answer, isAllowed ? answer : live)
    },
  }
}

/** The store may remove any of those that are old enough. */
export function remove(removal: DispatchRemoval): Call {
  return {
    ...{ name: 'removeDispatches', given: removal },
    run: (store) => store.removeDispatches(removal),
    async check(answer, { model, now, seen }) {
      const { tenant, acceptedForMs, limit } = removal
      const removable = model.removable(tenant, now - acceptedForMs)
      expectSame('the number of removed dispatches', answer, Math.min(limit, removable.length))
      let gone = 0
      for (const row of removable) {
        if (await seen(row.head.tenant, row.head.dispatchId)) continue
        model.remove(row)
        gone += 1
      }
      expectSame('the dispatches that are gone', gone, answer)
    },
  }
}

/** It changes nothing that another call returns. */
export const forget = (limit: number): Call => ({
  ...{ name: 'forgetExpired', given: limit },
  run: async (store) => store.forgetExpired?.(limit),
  check: async () => {},
})

export const countDue = (query: DueQuery): Call =>
  exact(
    'countDue',
    query,
    (store) => store.countDue(query),
    ({ model, now }) => {
      const due = model
        .deliveries()
        .filter(
          ({ status, wakeAt, channel, dispatch }) =>
            (status === 'queued' || status === 'sending') &&
            wakeAt <= now &&
            query.channels.includes(channel) &&
            (query.tenant === undefined || dispatch.head.tenant === query.tenant),
        )
      const count = Math.min(due.length, query.limit)
      return { count, ...(count > 0 && { oldestMs: now - Math.min(...due.map(({ wakeAt }) => wakeAt)) }) }
    },
  )

/** All pages of a list. */
export const list = (query: Omit<DispatchQuery, 'cursor'>): Call =>
  exact(
    'listDispatches',
    query,
    async (store) => {
      const items: Dispatch[] = []
      let cursor: string | undefined
      do {
        const page = await store.listDispatches({ ...query, ...(cursor !== undefined && { cursor }) })
        if (page.items.length > query.limit) throw new Mismatch('a page is longer than its limit')
        items.push(...page.items)
        cursor = page.nextCursor
      } while (cursor !== undefined)
      return items
    },
    ({ model }) => listed(model, query),
  )

/** Dispatches of a list, in its order: of equal times, by id. */
export function listed(model: DispatchModel, query: Omit<DispatchQuery, 'cursor' | 'limit'>): readonly Dispatch[] {
  const rows = [...model.dispatches.values()].filter((row) => fits(row, query)).sort(byAge)
  return (query.first === 'oldest' ? rows : rows.reverse()).map(readDispatch)
}

function byAge({ head: one }: DispatchRow, { head: other }: DispatchRow): number {
  return one.createdAt - other.createdAt || (one.dispatchId < other.dispatchId ? -1 : 1)
}

function fits(row: DispatchRow, query: Omit<DispatchQuery, 'cursor' | 'limit'>): boolean {
  const { head, deliveries } = row
  const status = statusOfDispatch(
    deliveries.map((one) => one.status),
    head.route,
  )
  const asked: readonly [unknown, boolean][] = [
    [query.tenant, head.tenant === query.tenant],
    [query.sessionId, head.sessionId === query.sessionId],
    [query.eventType, head.eventType === query.eventType],
    [query.recipient, head.recipient === query.recipient],
    [query.status, status === query.status],
    [query.since, head.createdAt >= (query.since ?? 0)],
    [query.until, head.createdAt < (query.until ?? 0)],
  ]
  return asked.every(([value, holds]) => value === undefined || holds) && hasDelivery(row, query)
}

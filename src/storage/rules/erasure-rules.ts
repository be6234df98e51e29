import { type DispatchAnswer, ERASED } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { AnswerErasure, DispatchData, ErasedDispatches } from '../../ports/dispatch-erasure.ts'
import { isOpenDelivery, type Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, type DispatchRow, ownersOf, readDispatch } from './dispatch-rows.ts'

/** A dispatch and those that share deliveries with it: their digests have the same recipient and address. */
export function sharersOf(dispatch: DispatchRow): readonly DispatchRow[] {
  return [...new Set([dispatch, ...dispatch.deliveries.flatMap((row) => [...ownersOf(row)])])]
}

/**
 * Erases the personal data of a dispatch and of those that share deliveries with it. Cancels open deliveries, also under a lease: its worker
 * can no longer settle it.
 */
export function eraseDispatch(dispatch: DispatchRow, transitions: Transitions): ErasedDispatches {
  let cancelled = 0
  const sharers = sharersOf(dispatch)
  for (const sharer of sharers) {
    for (const row of sharer.deliveries) {
      row.cancelledBy = undefined
      if (isOpenDelivery(row.status)) {
        transitions.end(row, 'cancelled')
        cancelled += 1
      }
      eraseDelivery(row)
    }
    Object.assign(sharer.head, { recipient: ERASED })
    delete (sharer.head as { locale?: string }).locale
    sharer.plan = undefined
  }
  return { dispatches: sharers.length, cancelled }
}

/** Codes and message ids of the provider remain. */
function eraseDelivery(row: DeliveryRow): void {
  const { digest } = row
  const events = digest?.events.map((event) => ({ ...event, eventData: {} })) ?? []
  Object.assign(row, {
    address: undefined,
    content: undefined,
    concurrencyKey: undefined,
    limits: undefined,
    trace: undefined,
    digest: digest && { ...digest, key: ERASED, recipient: { id: ERASED }, events },
  } satisfies Partial<DeliveryRow>)
}

/** Whether a dispatch has been erased already. */
export function isErased({ head: { recipient }, deliveries, plan }: DispatchRow): boolean {
  return recipient === ERASED && !plan && deliveries.every(({ address, content }) => !address && !content)
}

/** A copy of everything that is stored of a dispatch. */
export function readDispatchData(dispatch: DispatchRow): DispatchData {
  const digests = dispatch.deliveries.flatMap(({ deliveryId, digest }) =>
    (digest?.events ?? []).flatMap((event) =>
      event.dispatch === dispatch && digest
        ? { deliveryId, recipient: copyJson(digest.recipient), eventData: copyJson(event.eventData) }
        : [],
    ),
  )
  const { plan } = dispatch
  return { dispatch: readDispatch(dispatch), ...(plan && { source: copyJson(plan.source) }), digests }
}

/** The answer without personal data; `undefined` if it stays as it is. */
export function redactedAnswer(
  { recipient, dispatchIds }: Pick<AnswerErasure, 'recipient' | 'dispatchIds'>,
  answer: DispatchAnswer,
): DispatchAnswer | undefined {
  if (answer.recipient !== recipient && !dispatchIds.includes(answer.dispatchId)) return undefined
  if (answer.recipient === ERASED) return undefined
  const deliveries = answer.deliveries.map(({ trace: _, ...delivery }) => delivery)
  return { ...answer, recipient: ERASED, deliveries }
}

import type { Content, DeliveryView, DispatchView } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { DispatchData } from '../ports/dispatch-erasure.ts'

/** A delivery with what was sent, and to which address. */
export interface ExportedDelivery extends DeliveryView {
  readonly address?: string
  readonly content?: Content
}

/** Everything that is stored of a dispatch. */
export interface ExportedDispatch extends DispatchView {
  readonly locale?: string
  readonly deliveries: readonly ExportedDelivery[]
  /** The event's data, while a delivery that failed in host code can be planned again. */
  readonly eventData?: JsonObject
  /** Its events in digests. */
  readonly digests?: readonly {
    readonly deliveryId: string
    readonly recipient: Recipient
    readonly eventData: JsonObject
  }[]
}

/** One page of what is stored about a recipient. */
export interface RecipientExport {
  /** Oldest first. */
  readonly dispatches: readonly ExportedDispatch[]
  /** Data that plugins store about the recipient, by their names: `consent` its preferences and suppressions. Only on the first page. */
  readonly plugins?: Readonly<Record<string, object>>
  /** Absent on the last page. */
  readonly nextCursor?: string
}

/** Adds what views leave out. */
export function exportDispatch(view: DispatchView, { dispatch, source, digests }: DispatchData): ExportedDispatch {
  const deliveries = view.deliveries.map((one, at) => {
    const { address, content } = dispatch.deliveries[at] ?? {}
    return { ...one, ...(address !== undefined && { address }), ...(content && { content }) }
  })
  return {
    ...view,
    ...(dispatch.locale !== undefined && { locale: dispatch.locale }),
    deliveries,
    ...(source && { eventData: source.eventData }),
    ...(digests.length > 0 && { digests }),
  }
}

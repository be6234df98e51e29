import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../../../src/ports/channel.ts'

/** A message in flight at a provider. */
export interface InFlight {
  readonly deliveryId: string
  readonly dispatchId: string
  readonly eventType: string
  readonly worker: Life
  readonly signal: AbortSignal
  /** Ends the send; `throw` rejects it. */
  answer(outcome: SendOutcome['outcome'] | 'throw'): void
}

/** The state of a worker's process. */
export interface Life {
  isDead: boolean
}

/** A provider whose answers the test gives, and that records accepted messages. */
export interface Provider {
  readonly inFlight: readonly InFlight[]
  /** All sends in order of their start. */
  readonly begun: readonly { readonly deliveryId: string; readonly attempt: number; readonly history: number }[]
  /** The deliveries that were accepted, once for each time. */
  readonly taken: readonly { readonly deliveryId: string; readonly dispatchId: string }[]
  /** The channel of one worker's process. `onSend` receives each send at its start. */
  channel(worker: Life, retrySchedule: readonly number[], onSend: (begun: InFlight) => void): Channel
}

export function provider(): Provider {
  const inFlight: InFlight[] = []
  const begun: { deliveryId: string; attempt: number; history: number }[] = []
  const taken: { deliveryId: string; dispatchId: string }[] = []
  return {
    inFlight,
    begun,
    taken,
    channel: (worker, retrySchedule, onSend) => ({
      address: ({ id }) => id,
      retrySchedule,
      send: ({ dispatchId, eventType }: OutboundMessage, { deliveryId, attempt, history, signal }: SendContext) =>
        new Promise((resolve, reject) => {
          const one: InFlight = {
            deliveryId,
            dispatchId,
            eventType,
            worker,
            signal,
            answer(outcome) {
              inFlight.splice(inFlight.indexOf(one), 1)
              if (outcome === 'sent') taken.push({ deliveryId, dispatchId })
              if (outcome === 'throw') reject(null)
              else resolve(outcome === 'sent' ? { outcome } : { outcome, code: `was_${outcome}` })
            },
          }
          onSend(one)
          begun.push({ deliveryId, attempt, history: history.length })
          inFlight.push(one)
        }),
    }),
  }
}

import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../../../src/ports/channel.ts'

/** A message that a provider has in hand. */
export interface InFlight {
  readonly deliveryId: string
  readonly dispatchId: string
  readonly eventType: string
  readonly worker: Life
  readonly signal: AbortSignal
  /** Ends it; `throw` in the channel's own way. */
  answer(outcome: SendOutcome['outcome'] | 'throw'): void
}

/** Whether a worker's process is still there. */
export interface Life {
  isDead: boolean
}

/** A provider that answers when it is told to, and remembers what it took. */
export interface Provider {
  readonly inFlight: readonly InFlight[]
  /** All sends that were begun, in order. */
  readonly begun: readonly { readonly deliveryId: string; readonly attempt: number; readonly history: number }[]
  /** The dispatches and deliveries of what was taken, once for every time. */
  readonly taken: readonly { readonly deliveryId: string; readonly dispatchId: string }[]
  /** A way to it for one worker's process. `onSend` sees each send as it begins. */
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

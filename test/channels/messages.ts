import type { Attempt } from '../../src/model/attempt.ts'
import type { Content } from '../../src/model/dispatch.ts'
import type { OutboundMessage, SendContext } from '../../src/ports/channel.ts'
import { NOW } from './peers.ts'

export function message(to: string, content: Content): OutboundMessage {
  const ids = { dispatchId: 'dsp_1', tenant: 'acme', recipient: 'user_42' }
  return { to, content, eventType: 'order.shipped', ...ids, createdAt: NOW - 60_000 }
}

export function context(
  signal: AbortSignal = new AbortController().signal,
  history: readonly Attempt[] = [],
): SendContext {
  return { deliveryId: 'dlv_1', attempt: history.length + 1, history, signal }
}

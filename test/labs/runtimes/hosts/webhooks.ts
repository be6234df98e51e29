import { isSallyportError } from 'sallyport'
import { type WebhookOptions, webhook } from 'sallyport/channels/webhook'

export const WEBHOOK_SECRET: string = `whsec_${btoa('thirty-two bytes that are secret')}`
export const WEBHOOK_KEY: string = `whsk_${btoa('thirty-two bytes that are secret')}`

/**
 * Posts with a default webhook, or returns the reason why it is refused. With `?port=`, its guard allows these ports
 * and `http:`.
 */
export function guardedWebhook(request: Request): unknown {
  const ports = new URL(request.url).searchParams.getAll('port').map(Number)
  return postWith(ports.length > 0 ? { allowHttp: true, ports } : {}, request)
}

/** Posts with a webhook without its guard, as behind an egress proxy. */
export function unguardedWebhook(request: Request): unknown {
  return postWith({ allowHttp: true, allowPrivateNetworks: true }, request)
}

function postWith(options: Omit<WebhookOptions, 'secret'>, request: Request): unknown {
  const to = new URL(request.url).searchParams.get('to') ?? ''
  const ids = { dispatchId: 'dsp_1', tenant: 'default', recipient: 'user_42' }
  const message = { to, eventType: 'order.shipped', ...ids, createdAt: Date.now() }
  const context = { deliveryId: 'dlv_1', attempt: 1, history: [], signal: new AbortController().signal }
  try {
    const channel = webhook({ secret: [WEBHOOK_SECRET, WEBHOOK_KEY], ...options })
    return channel.send({ ...message, content: { data: { orderId: 'Ä-1' } } }, context)
  } catch (error) {
    return { isOurs: isSallyportError(error), text: String(error), ...(error as object) }
  }
}

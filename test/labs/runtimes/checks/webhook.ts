import { deepEqual, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { webhookPublicKey } from 'sallyport/channels/webhook'
import { Webhook } from 'standardwebhooks'
import { openCanary } from '../../../hostile/webhooks/canary.ts'
import { hostsInside, urlsInside } from '../../../hostile/webhooks/spellings.ts'
import { WEBHOOK_KEY, WEBHOOK_SECRET } from '../hosts/webhooks.ts'
import { own } from '../target.ts'
import type { Check, CheckGroup } from './check.ts'

/** `webhook()` where its guard works. */
export const guardedWebhook: CheckGroup = {
  name: 'webhook',
  checks: [
    ...['https://localhost/', 'https://127.0.0.1/', 'https://[::ffff:7f00:1]/'].map(
      (url): Check => ({
        name: `the guard refuses ${url}`,
        async run(target) {
          const outcome = await own(target, `guarded-webhook?to=${encodeURIComponent(url)}`)
          deepEqual(outcome, { outcome: 'rejected', code: 'address_forbidden', by: 'channel' })
        },
      }),
    ),
    reachesNothingInside(),
    sendsUnguarded(),
  ],
}

/** `webhook()` where it cannot keep requests off private networks. */
export function refusedWebhook(runtime: string): CheckGroup {
  return { name: 'webhook', checks: [refusal(runtime, 'guarded-webhook'), sendsUnguarded()] }
}

/** `webhook()` where it cannot post at all: it is refused with or without its guard. */
export function impossibleWebhook(runtime: string): CheckGroup {
  return { name: 'webhook', checks: [refusal(runtime, 'guarded-webhook'), refusal(runtime, 'unguarded-webhook')] }
}

function refusal(runtime: string, task: 'guarded-webhook' | 'unguarded-webhook'): Check {
  return {
    name: `webhook() refuses to start (${task}), and names the runtime and the reason`,
    async run(target) {
      const { isOurs, code, text } = await own<Record<string, unknown>>(target, task)
      deepEqual([isOurs, code], [true, 'config_invalid'], String(text))
      match(String(text), new RegExp(`private networks on ${runtime}: .*connect to the address that was vetted`))
      match(String(text), /Send webhooks from Node/)
    },
  }
}

/**
 * Sends to all spellings of private addresses, against servers that count connections, and once without the guard as a
 * control.
 */
function reachesNothingInside(): Check {
  return {
    name: 'no spelling of a private address is reached',
    async run(target) {
      const canary = await openCanary()
      const [http = 0] = canary.http
      const allowed = canary.ports.map((port) => `&port=${port}`).join('')
      const ends = [...canary.http.map((port) => ['http', port]), ...canary.https.map((port) => ['https', port])]
      const hosts = [...hostsInside, 'localhost', 'LocalHost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ']
      const urls = hosts.flatMap((host) => ends.map(([scheme, port]) => `${scheme}://${host}:${port}/`))
      try {
        for (const url of [...urls, ...urlsInside(http)]) {
          const outcome = await own(target, `guarded-webhook?to=${encodeURIComponent(url)}${allowed}`)
          deepEqual(outcome, { outcome: 'rejected', code: 'address_forbidden', by: 'channel' }, url)
        }
        equal(canary.accepted(), 0)
        await own(target, `unguarded-webhook?to=${encodeURIComponent(`http://127.1:${http}/`)}`)
        equal(canary.accepted(), 1)
      } finally {
        canary.close()
      }
    },
  }
}

/** The advice of the refusal: a webhook without its guard, behind something else that checks requests. */
function sendsUnguarded(): Check {
  return {
    name: 'webhook() posts and signs with allowPrivateNetworks',
    async run(target) {
      const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = []
      const peer = createServer(async (req, res) => {
        received.push({ headers: req.headers, body: await text(req) })
        res.writeHead(204).end()
      })
      await once(peer.listen(0, '127.0.0.1'), 'listening')
      const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}/hook`
      try {
        const outcome = await own(target, `unguarded-webhook?to=${encodeURIComponent(url)}`)
        deepEqual(outcome, { outcome: 'sent' })
        const [{ headers, body } = { headers: {}, body: '' }] = received
        const event = new Webhook(WEBHOOK_SECRET).verify(body, headers as Record<string, string>)
        deepEqual((event as { data: unknown }).data, { orderId: 'Ä-1' })
        equal(await isSignedByKey(headers, body), true)
      } finally {
        peer.close()
        peer.closeAllConnections()
      }
    },
  }
}

/** Verifies the `v1a` signature, the second one, with the public key. */
async function isSignedByKey(headers: IncomingHttpHeaders, body: string): Promise<boolean> {
  const bytes = (text: string): Buffer => Buffer.from(text, 'base64')
  const raw = bytes(webhookPublicKey(WEBHOOK_KEY).replace('whpk_', ''))
  const key = await crypto.subtle.importKey('raw', raw, 'Ed25519', false, ['verify'])
  const [, signature = ''] = /^v1,\S+ v1a,(\S+)$/.exec(String(headers['webhook-signature'])) ?? []
  const content = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return crypto.subtle.verify('Ed25519', key, bytes(signature), Buffer.from(content))
}

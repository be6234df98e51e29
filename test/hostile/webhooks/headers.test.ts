import { type WebhookOptions, webhook } from 'sallyport/channels/webhook'
import { expect, test, vi } from 'vitest'
import type { OutboundMessage, SendOutcome } from '../../../src/ports/channel.ts'
import { SECRET } from '../../channels/events.ts'
import { context, message } from '../../channels/messages.ts'
import { tcpPeer } from '../../channels/peers.ts'
import { fc, runs } from '../../support/properties.ts'
import { canary } from './inside.ts'

const NAMES = [
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
  'content-type',
  'user-agent',
  'content-length',
  'Host',
  'Connection',
]

/** A server that records its requests byte by byte. */
async function listener(): Promise<{ readonly port: number; readonly posts: string[] }> {
  const posts: string[] = []
  const port = await tcpPeer((socket) => {
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
      const [head = '', body = ''] = text.split(/\r\n\r\n(.*)/s)
      if (body.length < Number(/content-length: (\d+)/.exec(head)?.[1] ?? Number.POSITIVE_INFINITY)) return
      posts.push(text)
      socket.end('HTTP/1.1 204 No Content\r\n\r\n')
    })
  })
  return { port, posts }
}

interface WebhookSend {
  readonly options?: Partial<WebhookOptions>
  readonly what?: Partial<OutboundMessage>
  readonly deliveryId?: string
  readonly path?: string
}

function sendTo(port: number, { options, what, deliveryId, path = '' }: WebhookSend): Promise<SendOutcome> {
  const channel = webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ...options })
  const plain = message(`http://127.0.0.1:${port}/${path}`, { data: { orderId: '7' } })
  return channel.send({ ...plain, ...what }, { ...context(), ...(deliveryId !== undefined && { deliveryId }) })
}

/** Header names and body: an injected line break shows as an additional header or a different body. */
function partsOf(post: string): { readonly start: string; readonly names: string[]; readonly body: unknown } {
  const [head = '', body = ''] = post.split(/\r\n\r\n(.*)/s)
  const [start = '', ...headers] = head.split(/\r\n|\r|\n/)
  return {
    start,
    names: headers.map((line) => line.split(':')[0] ?? ''),
    body: JSON.parse(Buffer.from(body, 'latin1').toString()),
  }
}

const HOSTILE = [
  'a\r\nx-injected: 1',
  'a\nx-injected: 1',
  'a\rx-injected: 1',
  'a\r\n\r\nPOST /inside HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n',
  'a\u0000b',
  'a\u2028x-injected: 1',
  'a\u0085x-injected: 1',
  'a\u010d\u010ax-injected: 1',
  '\ud800',
  'ü € 🚪',
]

test.each(HOSTILE)('%j in content, event, tenant and ids reaches no header, and is JSON in the body', async (text) => {
  const { port, posts } = await listener()
  const what = { content: { data: { [text]: text } }, eventType: text, tenant: text, dispatchId: text, locale: text }
  expect(await sendTo(port, { what })).toEqual({ outcome: 'sent' })
  const { start, names, body } = partsOf(posts[0] ?? '')
  expect([start, names]).toEqual(['POST / HTTP/1.1', NAMES])
  expect(body).toMatchObject({ type: text, data: { [text]: text } })
})

test.each(HOSTILE)('%j in a path and a query stays within the request line', async (text) => {
  const { port, posts } = await listener()
  expect(await sendTo(port, { path: `${text}?${text}#${text}` })).toEqual({ outcome: 'sent' })
  const { start, names } = partsOf(posts[0] ?? '')
  expect(start).toMatch(/^POST \/[!-~]* HTTP\/1\.1$/)
  expect(names).toEqual(NAMES)
})

test('Requests have the same headers for any text', async () => {
  const { port, posts } = await listener()
  const texts = fc.tuple(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.webPath())
  await fc.assert(
    fc.asyncProperty(texts, async ([eventType, note, path]) => {
      posts.length = 0
      const what = { eventType, tenant: note, dispatchId: note, content: { data: { note } } }
      expect(await sendTo(port, { what, path: `${path}?${note}` })).toEqual({ outcome: 'sent' })
      const { names, body } = partsOf(posts[0] ?? '')
      expect(posts).toHaveLength(1)
      expect(names).toEqual(NAMES)
      expect(body).toMatchObject({ type: eventType, data: { note } })
    }),
    { numRuns: runs(200) },
  )
})

const NO_HEADERS = [
  'a\r\nx-injected: 1',
  'a\nb',
  'a\rb',
  'a\u0000b',
  'a\u007fb',
  'a€',
  'a\u010a',
  '\ud83d\udeaa',
  '\ud800',
]

test.each(NO_HEADERS)('A delivery id of %j throws before a connection opens', async (deliveryId) => {
  const { http, accepted } = await canary()
  await expect(sendTo(http[0] ?? 0, { deliveryId })).rejects.toThrow(
    /Invalid character in header content \["webhook-id"\]/,
  )
  expect(accepted()).toBe(0)
})

test.each(['\r\nx-injected: 1', '\n', '\u0000', '€', ' '])(
  'A secret with %j is invalid, and no connection opens',
  async (text) => {
    const { http, accepted } = await canary()
    for (const secret of [`${SECRET}${text}`, `whsec_${text}${SECRET.slice(6)}`, `${text}${SECRET}`]) {
      const find = vi.fn(() => [SECRET, secret])
      const outcome = await sendTo(http[0] ?? 0, { options: { secret: find } })
      expect(outcome).toMatchObject({ outcome: 'retry', code: 'secret_invalid' })
      expect(find).toHaveBeenCalledOnce()
    }
    expect(accepted()).toBe(0)
  },
)

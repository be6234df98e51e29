import { deepEqual, equal } from 'node:assert/strict'
import { DISPATCH, dispatch, own, post, RUN } from '../target.ts'
import type { CheckGroup } from './check.ts'
import { delivered, sentTo } from './dispatching.ts'

const NOTE = 'Grüße, 東京 и 🚢 – “ok”'

/** Request bodies over the wire, byte by byte. */
export const bodies: CheckGroup = {
  name: 'bodies',
  checks: [
    {
      name: 'bodies beyond ASCII arrive and return unchanged',
      async run(target) {
        const { status, json } = await dispatch(target, 'noted', { note: NOTE })
        equal(status, 202)
        await delivered(target, json.dispatchId)
        deepEqual(await sentTo(target, 'noted'), [`Order A-1 shipped: ${NOTE}`])
        const run = { runId: 'noted', metadata: { note: NOTE } }
        const answer = await post(target, RUN, { sessionId: 'noted', run })
        equal(answer.json.run.metadata.note, NOTE)
        equal(answer.headers['content-length'], String(answer.bytes.length))
      },
    },
    {
      name: 'chunks that end within a character are joined',
      async run(target) {
        const bytes = Buffer.from(JSON.stringify({ sessionId: 'c', run: { runId: 'c', metadata: { note: NOTE } } }))
        const body = Array.from(bytes, (byte) => Uint8Array.of(byte))
        const { status, json } = await post(target, RUN, '', { body })
        deepEqual([status, json.run.metadata.note], [201, NOTE])
      },
    },
    {
      name: 'a chunked body over the limit is refused as too large',
      async run(target) {
        const body = Array.from({ length: 20 }, () => 'x'.repeat(4_096))
        const { status, json } = await post(target, RUN, '', { body })
        deepEqual([status, json.code, json.limit], [413, 'body_too_large', 65_536])
      },
    },
    {
      name: 'a body of the maximum size is accepted',
      async run(target) {
        const event = { eventType: 'order.shipped', recipient: 'large', eventData: { orderId: '', total: 1 } }
        event.eventData.orderId = 'x'.repeat(262_144 - JSON.stringify(event).length)
        const { status, json } = await post(target, `${DISPATCH}?dryRun=true`, event)
        // The template exceeds its own limit of output, which is a fault of the channel and not of the body.
        deepEqual([status, json.code], [200, undefined])
      },
    },
    {
      name: 'a HEAD request is answered 405 without a body',
      async run(target) {
        const { status, bytes } = await post(target, DISPATCH, '', { method: 'HEAD' })
        deepEqual([status, bytes.length], [405, 0])
        equal((await own<unknown[]>(target, 'sent')).length > 0, true)
      },
    },
  ],
}

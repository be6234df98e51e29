import { defineEvents, handleDispatch } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { memoryStore } from 'sallyport/storage/memory'
import { testRequest } from 'sallyport/testing'
import * as v from 'valibot'

const events = defineEvents({
  'order.paid': {
    data: v.object({ orderId: v.string(), total: v.number() }),
    channels: {
      email: {
        when: ({ data }) => data.total > 0,
        subject: ({ data }) => `Order ${data.orderId} paid`,
        text: () => 'Thank you',
      },
      sms: {
        when: ({ data }) => data.total >= 100,
        text: ({ data }) => `${data.orderId}: ${data.total} paid`,
      },
    },
  },
})

const deps = {
  auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
  events,
  store: memoryStore(),
  channels: { email: log(), sms: log() },
}

export interface Plan {
  readonly channel: string
  readonly content: Readonly<Record<string, unknown>>
}

export async function plan(eventData: Record<string, unknown>): Promise<Plan[]> {
  const body = { eventType: 'order.paid', recipient: 'user_42', eventData }
  const answer = await handleDispatch(testRequest({ token: 'any', query: { dryRun: 'true' }, body }), deps)
  if (!answer.ok) throw Object.assign(new Error(answer.body.detail), { code: answer.body.code })
  if (!('dryRun' in answer.body)) throw new Error('not a dry run')
  return answer.body.deliveries.flatMap(({ channel, content }) => (content ? [{ channel, content }] : []))
}

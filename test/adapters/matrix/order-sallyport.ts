import * as v from 'valibot'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const events = defineEvents(
  {
    'order.shipped': {
      data: v.object({ orderId: v.string() }),
      channels: { email: { subject: 'Order {{ data.orderId }}' }, sms: { text: ({ data }) => data.orderId } },
    },
    'order.paid': { channels: { email: { subject: 'Paid on {{ data.day }}' } } },
  },
  { templates: liquid() },
)

/** A complete Sallyport over a memory store. Its directory knows `user_42`. */
export function orderSallyport(rest: Partial<SallyportOptions<unknown>> = {}): Sallyport {
  return createSallyport<unknown>({
    auth: testAuth,
    events,
    store: memoryStore(),
    channels: { email: recordingChannel(), sms: recordingChannel(), push: recordingChannel() },
    recipients: {
      async find(id) {
        if (id === 'user_broken') throw new Error('the directory is down')
        return id === 'user_42' ? { id, email: 'ada@example.com' } : undefined
      },
    },
    logger: recordingLogger(),
    ...rest,
  }) as Sallyport
}

import * as v from 'valibot'
import { z } from 'zod'
import { composeAppSecret } from '../../../src/auth/app-secret.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'

/** A well-formed application secret for tests. */
export const SECRET: string = composeAppSecret('test', '0'.repeat(30))

export const events: EventCatalog = defineEvents(
  {
    any: { channels: { log: {} } },
    'order.shipped': {
      data: v.object({
        orderId: v.string(),
        total: v.number(),
        items: v.optional(v.array(v.object({ name: v.string() }))),
      }),
      channels: {
        log: {
          when: { and: [{ '>': [{ var: 'data.total' }, 10] }, { '!': [{ in: ['x', { var: 'data.orderId' }] }] }] },
          text: '{% for i in data.items %}{{ i.name | escape }} {% endfor %}{{ data.orderId | upcase | truncate: 20 }}',
          html: '<p>{{ data.orderId }}</p>',
        },
      },
    },
    'order.zod': {
      data: z.object({ orderId: z.string().max(64), lines: z.array(z.object({ sku: z.string(), count: z.int() })) }),
      channels: { log: { text: ({ data }) => data.lines.map(({ sku, count }) => `${count} ${sku}`).join() } },
    },
    digested: {
      digest: { windowMs: 60_000, key: ({ data }) => `${data.post}` },
      channels: { log: { text: ({ events }) => `${events.length}` } },
    },
  },
  { templates: liquid(), conditions: jsonLogic() },
)

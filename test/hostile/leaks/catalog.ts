import * as v from 'valibot'
import { z } from 'zod'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import type { Faults } from './faults.ts'
import { type Planted, throwing } from './test-app.ts'

/** A template that reads a value as a time zone: its error quotes the value. */
function inZone(path: string): string {
  return `{{ 'now' | date: '%Y', ${path} }}`
}

/** Events that leak wherever they can: by Liquid, rules, functions and schemas that quote. */
export function catalog({ content, attribute }: Pick<Planted, 'content' | 'attribute'>, faults: Faults): EventCatalog {
  const note = v.object({ note: v.string() })
  const reported = `${content} {{ data.note }} {{ recipient.attributes.plan }}`
  const mail = { subject: reported, text: reported, html: reported }
  return defineEvents(
    {
      order: {
        data: v.object({ note: v.string(), total: v.optional(v.number()), more: v.optional(v.any()) }),
        channels: {
          email: mail,
          sms: { when: { '==': [{ var: 'recipient.attributes.plan' }, 'free'] }, text: reported },
          webhook: { when: { '==': [{ var: 'data.note' }, 'nothing'] } },
          any: { when: () => throwing('condition', faults, true), text: () => throwing('template', faults, content) },
        },
      },
      reported: { data: note, channels: { email: mail, sms: { text: reported }, webhook: {} } },
      first: { data: note, route: 'first', channels: { email: mail, sms: { text: reported }, webhook: {} } },
      digested: {
        data: v.pipe(
          note,
          v.check(() => throwing('schema', faults, true), 'no'),
        ),
        digest: { windowMs: 60_000, key: ({ data }) => throwing('digest key', faults, data.note) },
        channels: {
          email: { subject: reported, text: ({ events }) => throwing('template', faults, `${events.length}`) },
          sms: { text: '{% for each in events %}{{ each.note }}{% endfor %}' },
          webhook: {},
        },
      },
      refined: {
        data: v.pipe(
          note,
          v.check(() => throwing('schema', faults, true), 'no'),
        ),
        channels: { any: {} },
      },
      asked: { channels: { any: { text: 'Hello {{ data[data.key] }} {{ recipient.attributes[data.key] }}' } } },
      missing: { channels: { any: { text: '{{ data.list[data.key].name }}' } } },
      zoned: {
        channels: {
          email: {
            subject: inZone('data.note'),
            text: inZone('recipient.email'),
            html: inZone('recipient.attributes.plan'),
          },
          sms: { text: inZone('recipient.phone') },
          any: { text: inZone('recipient.url') },
        },
      },
      heavy: { channels: { any: { text: '{% for i in (1..data.times) %}{{ data.note }}{% endfor %}' } } },
      ruled: { channels: { any: { when: { '<': [{ '/': [{ var: 'data.note' }, 0] }, 1] }, text: reported } } },
      picked: {
        data: v.object({ note: v.picklist(['a']), own: v.pipe(v.string(), v.email()) }),
        channels: { any: {} },
      },
      zodded: { data: z.strictObject({ note: z.enum(['a']), own: z.email() }), channels: { any: {} } },
      person: { channels: { any: { when: ({ recipient }) => recipient.attributes?.plan !== attribute } } },
      'run.failed': { channels: { any: { text: ({ data }) => JSON.stringify(data) } } },
      'run.expired': { channels: { any: { text: ({ data }) => JSON.stringify(data) } } },
      'budget.exceeded': { data: v.object({ nobody: v.string() }), channels: { any: {} } },
    },
    { templates: liquid(), conditions: jsonLogic() },
  )
}

import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { TemplateEngine } from '../../../src/ports/template-engine.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { post } from './dispatching.ts'

const data = v.looseObject({ id: v.string() })
const events = defineEvents(
  {
    order: { data, channels: { a: { subject: 'Order {{ data.idd }}', text: '{{ data.id }}' } } },
    invoice: {
      data,
      channels: { a: { text: '{{ data.idd }} {{ recipient.attributes.nick }}' }, b: { text: '{{ events[0].sum }}' } },
    },
  },
  { templates: liquid() },
)
const channels = { a: recordingChannel(), b: recordingChannel() }

const body = (eventType: string, more: object = {}): object => ({
  eventType,
  recipient: 'jane@example.com',
  eventData: { id: '1', ...more },
})

const detail = 'a template reads it, and the caller did not send it: does the schema of data have it?'
const line = (fields: object): object => ({
  level: 'warn',
  event: 'event.data_missing',
  fields: { ...fields, detail },
})

describe('data that a template reads and no caller sent', () => {
  it('is logged once for each event and path, also after a dry run, and reaches no hook', async () => {
    const seen: unknown[] = []
    const deps = testDeps(channels, { events, hooks: { onError: (...args) => void seen.push(args) } })
    await post(deps, body('order'), {}, { dryRun: 'true' })
    for (let times = 0; times < 3; times++) expect((await post(deps, body('order'))).status).toBe(422)
    expect(deps.logger.lines).toEqual([line({ eventType: 'order', channel: 'a', field: 'subject', path: 'data.idd' })])
    await post(deps, body('invoice'))
    expect(deps.logger.lines.slice(1)).toEqual([
      line({ eventType: 'invoice', channel: 'a', field: 'text', path: 'data.idd' }),
      line({ eventType: 'invoice', channel: 'b', field: 'text', path: 'events.0.sum' }),
    ])
    expect(seen).toEqual([])
  })

  it('is not logged when it was sent', async () => {
    const deps = testDeps(channels, { events })
    expect((await post(deps, body('order', { idd: '2' }))).status).toBe(202)
    expect(deps.logger.lines).toEqual([])
  })

  it('is logged by each logger', async () => {
    const both = [testDeps(channels, { events }), testDeps(channels, { events })]
    for (const deps of both) await post(deps, body('order'))
    expect(both.map(({ logger }) => logger.lines.length)).toEqual([1, 1])
  })

  it('is logged at most a thousand times, with at most 200 characters of the path', async () => {
    let path = ''
    const templates: TemplateEngine = { compile: () => () => ({ outcome: 'missing', path }) }
    const odd = defineEvents({ odd: { channels: { a: { text: '' } } } }, { templates })
    const deps = testDeps(channels, { events: odd })
    for (let index = 0; index < 1_010; index++) {
      path = `data.x${index}.${'y'.repeat(500)}`
      await post(deps, body('odd'))
    }
    expect(deps.logger.lines).toHaveLength(1_000)
    expect(Math.max(...deps.logger.lines.map(({ fields }) => fields.path?.length ?? 0))).toBe(200)
  })
})

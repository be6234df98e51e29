import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { ErrorContext, ErrorDetails } from '../../../src/core/answers/report-fault.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { jsonLogic } from '../../../src/engines/json-logic.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { LogFields } from '../../../src/ports/logger.ts'
import { composed } from '../../compose/composed.ts'

const RECIPIENT = 'user@example.com'
const JANE = 'jane@example.com'
const fail = (): never => {
  throw new RangeError(`${JANE} has no total`)
}

/** Data whose `total` throws when it is read. */
const unreadable = v.pipe(
  v.object({}),
  v.transform(() => ({
    get total() {
      return fail()
    },
  })),
)

/** A rule of many nodes. */
const wide = { or: Array.from({ length: 9 }, (_, index) => ({ '==': [{ var: '' }, index] })) }

const events = defineEvents(
  {
    template: { channels: { a: { text: "{{ 'now' | date: '%Y', data.zone }}" } } },
    condition: { data: unreadable, channels: { a: { when: { '<': [{ var: 'data.total' }, 2] } } } },
    data_schema: { data: v.pipe(v.object({}), v.transform(fail)), channels: { a: {} } },
    arithmetic: { channels: { a: { when: { '<': [{ '/': [{ var: 'data.zone' }, 1] }, 1] } } } },
    steps: { channels: { a: { when: { some: [{ var: 'data.list' }, wide] } } } },
  },
  { templates: liquid(), conditions: jsonLogic() },
)

/** Dispatches one event; returns the calls of `onError` and the logged fields. */
async function failing(eventType: string, errorDetails: ErrorDetails = 'default', more: object = {}) {
  const seen: (readonly [error: unknown, context: ErrorContext])[] = []
  const hooks = { onError: (...args: [unknown, ErrorContext]) => void seen.push(args) }
  const { sallyport, logger } = composed(events, { hooks, errorDetails })
  await sallyport.dispatch({ eventType, recipient: RECIPIENT, eventData: { zone: JANE, ...more } } as never)
  expect(seen).toHaveLength(1)
  const fields: LogFields = logger.lines.find(({ event }) => event === 'event.failed')?.fields ?? {}
  return { seen, fields, lines: logger.lines }
}

describe('an error of a library that quotes data', () => {
  const LIBRARIES = ['template', 'condition', 'data_schema'] as const

  it.each(LIBRARIES)('An error of a library reaches onError unchanged: %s', async (operation) => {
    const { seen } = await failing(operation)
    expect(seen).toEqual([[expect.any(RangeError), expect.objectContaining({ operation, eventType: operation })]])
    expect(String(seen[0]?.[0])).toContain(JANE)
  })

  it.each(LIBRARIES)('An error of a library is logged by its name and stack frames: %s', async (operation) => {
    const { fields, lines } = await failing(operation)
    expect(fields).toMatchObject({ cause: 'RangeError', stack: expect.stringMatching(/^at /) })
    expect(fields).not.toHaveProperty('message')
    expect(JSON.stringify(lines)).not.toContain('jane')
  })

  it.each(LIBRARIES)(
    'An error of a library is logged with its message if errorDetails is full: %s',
    async (operation) => {
      const { fields } = await failing(operation, 'full')
      expect(fields).toMatchObject({ cause: 'RangeError', message: expect.stringContaining(JANE) })
    },
  )

  it.each(LIBRARIES)(
    'An error of a library is logged by its name alone if errorDetails is none: %s',
    async (operation) => {
      const { fields, lines } = await failing(operation, 'none')
      expect(fields).toMatchObject({ cause: 'RangeError', detail: expect.any(String) })
      for (const name of ['message', 'stack']) expect(fields).not.toHaveProperty(name)
      expect(JSON.stringify(lines)).not.toContain('jane')
    },
  )
})

describe('a rule that cannot be decided', () => {
  it.each<[string, object, string]>([
    ['arithmetic', {}, 'the condition does arithmetic on something that is not a number, or divides by zero'],
    ['steps', { list: Array(9_900).fill(JANE) }, 'the condition takes more than 100000 steps'],
  ])(
    'A rule that cannot be decided is reported as a TypeError with its detail: %s',
    async (eventType, more, detail) => {
      const { seen, fields, lines } = await failing(eventType, 'default', more)
      const error = expect.objectContaining({ name: 'TypeError', message: detail })
      expect(seen).toEqual([[error, expect.objectContaining({ operation: 'condition', channel: 'a' })]])
      expect(fields).toMatchObject({ detail, cause: 'TypeError' })
      expect(JSON.stringify(lines)).not.toContain('jane')
    },
  )
})

describe('data that throw in toJSON', () => {
  it.each(['an event', 'a digest'])('Data that throw in toJSON are reported with the thrown error: %s', async (of) => {
    let isBroken = of === 'an event'
    const thrown = new RangeError(`${JANE} has no total`)
    const toJSON = (): object => {
      if (isBroken) throw thrown
      return {}
    }
    const data = v.pipe(
      v.object({}),
      v.transform(() => ({ toJSON })),
    )
    const digest = of === 'a digest' ? { windowMs: 1_000 } : undefined
    const own = defineEvents({ one: { data, ...(digest && { digest }), channels: { a: {} } } })
    const seen: unknown[] = []
    const hooks = { onError: (...args: unknown[]) => void seen.push(args) }
    const { sallyport, clock, logger } = composed(own, { hooks })
    await sallyport.dispatch({ eventType: 'one', recipient: RECIPIENT, eventData: {} })
    isBroken = true
    clock.advance(1_000)
    await sallyport.worker.runDue()
    const place = { operation: 'data_schema', eventType: 'one', channel: 'a', dispatchId: 'dsp_1' }
    expect(seen).toEqual([[thrown, digest ? { ...place, deliveryId: 'dlv_2' } : place]])
    expect(await sallyport.dispatches.get('dsp_1')).toMatchObject({ deliveries: [{ reason: 'template_error' }] })
    expect(JSON.stringify(logger.lines)).not.toContain('jane')
  })
})

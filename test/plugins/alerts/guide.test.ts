import { createSallyport, defineEvents } from 'sallyport'
import { alerts } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock, recordingChannel } from 'sallyport/testing'
import { describe, expect, it } from 'vitest'
import { AGENT, postRun } from '../../compose/run-host.ts'
import { namesIn, tablesOf } from '../../docs/page-tables.ts'
import { membersIn } from '../../options/option-members.ts'
import { entries } from '../../support/entries.ts'

const PAGE = 'docs/alerts.md'
const find = membersIn(
  new Map([...entries()].filter(([entry]) => entry === 'sallyport/plugins' || entry === 'sallyport')),
)
const membersOf = (type: string): readonly string[] => [...find('sallyport/plugins alerts', type).keys()].sort()

/** The event types and data that the plugin dispatches. */
interface Emitted {
  readonly eventType: string
  readonly data: Readonly<Record<string, object>>
}

const MINUTE_MS = 60_000
const EUR = { currency: 'EUR', source: 'client' }

/** Posts runs with every field, with few and by an agent, and gives all events that the real plugin dispatches. */
async function allEvents(): Promise<readonly Emitted[]> {
  const clock = fakeClock()
  const channel = recordingChannel()
  const everywhere = { channels: { log: {} } }
  const target = () => ({ recipient: 'ops@example.com' })
  const names = namesIn(PAGE, 'event')
  const sallyport = createSallyport({
    auth: { verify: async () => ({ id: 'test', tenant: 'default' }) },
    store: memoryStore({ clock }),
    clock,
    channels: { log: channel },
    events: defineEvents(Object.fromEntries(names.map((name) => [name, everywhere]))),
    plugins: [
      alerts({
        budgets: [
          { name: 'tokens', per: 'session', hard: { tokens: 1 } },
          { name: 'both', per: 'session', hard: { cost: { amount: '1', currency: 'EUR' } } },
          { name: 'money', per: 'user', days: 1, soft: { tokens: 1, cost: { amount: '1', currency: 'EUR' } } },
        ],
        runEvents: Object.fromEntries(names.map((name) => [name, target])),
      }),
    ],
  })
  const statuses = ['completed', 'incomplete', 'failed', 'cancelled']
  for (const status of statuses) await postRun(sallyport, { runId: `few-${status}`, status })
  await postRun(sallyport, { runId: 'silent', status: 'running' })
  await postRun(sallyport, { ...whole, status: 'failed' })
  await postRun(sallyport, { runId: 'waits', status: 'waiting', waitingFor: 'input', counts: { inputTokens: 1 } })
  await postRun(sallyport, { runId: 'of-agent', status: 'failed', counts: { inputTokens: 1 } }, AGENT)
  await postRun(sallyport, { runId: 'doubt', status: 'failed', usage: { prompt_tokens: 5, input_tokens: 7 } })
  await postRun(sallyport, { runId: 'huge', userId: 'u2', counts: { inputTokens: Number.MAX_SAFE_INTEGER } })
  await sallyport.worker.runDue()
  clock.advance(2 * MINUTE_MS)
  await sallyport.runs.sweepStale({ olderThan: MINUTE_MS })
  await sallyport.worker.runDue()
  return channel.sent.map(({ eventType, content }) => ({ eventType, data: content.data as Emitted['data'] }))
}

const AT = '2026-11-21T08:00:00Z'
const MODEL = { provider: 'openai', model: 'gpt-5' }

/** A post with every field. */
const whole = {
  ...MODEL,
  ...{ runId: 'r2', parentRunId: 'r1', resumedFromRunId: 'r0', attempt: 1, seq: 1, responseModel: 'gpt-5-mini' },
  ...{ serviceTier: 'batch', countsScope: 'self', finishReason: 'length', userId: 'u1', environment: 'test' },
  agent: { id: 'a1', name: 'agent', version: '1' },
  timings: {
    ...{ queuedAt: AT, startedAt: AT, firstTokenAt: AT, endedAt: AT, durationMs: 1, activeMs: 1 },
    ...{ modelMs: 1, toolMs: 1, timeToFirstTokenMs: 1 },
  },
  counts: { inputTokens: 3 },
  usageByModel: [{ ...MODEL, serviceTier: 'batch', counts: { inputTokens: 3 }, cost: { amount: '2', ...EUR } }],
  cost: { amount: '2', ...EUR, pricingVersion: '1' },
  error: { type: 'oom', message: 'No memory', code: 'E1', retryable: true },
  trace: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) },
  tags: ['nightly'],
  metadata: { reason: 'test' },
}

const emitted = await allEvents()

/** The rows `| field | type |` of the table below a heading, in its order on the page. */
function rowsOf(part: 'budget' | 'run'): readonly (readonly [field: string, type: string])[] {
  const table = tablesOf(PAGE, 'field')[part === 'budget' ? 0 : 1]
  return (table?.rows ?? []).map(([field = '', type = '']) => [field.replaceAll('`', ''), type.replaceAll('`', '')])
}

/** The paths in data down to those that the table has as fields. */
function pathsIn(value: object, fields: ReadonlySet<string>, parent = ''): readonly string[] {
  return Object.entries(value).flatMap(([name, member]) => {
    const path = parent + name
    const isWhole = fields.has(path) || typeof member !== 'object' || Array.isArray(member)
    return isWhole ? [path] : pathsIn(member, fields, `${path}.`)
  })
}

/** Names in a shape such as `{ amount, currency? }[]`, by whether they are always there. */
function shapeOf(type: string): readonly string[] | undefined {
  return /^\{ ([\w, ?]+) \}(?:\[\])?$/.exec(type)?.[1]?.split(', ')
}

/** The shape of several objects, with `?` after what some lack. */
function shapeIn(objects: readonly object[]): readonly string[] {
  const names = new Set(objects.flatMap((each) => Object.keys(each)))
  return [...names].map((name) => (objects.every((each) => name in each) ? name : `${name}?`))
}

const optional = (names: readonly string[]): readonly string[] => names.map((name) => name.replace('?', '')).sort()

describe('the data of events on the page', () => {
  it.each(['budget', 'run'] as const)('The table of %s has exactly the fields that the plugin dispatches', (part) => {
    const rows = rowsOf(part)
    const fields = new Set(optional(rows.map(([field]) => field)))
    const all = emitted.flatMap(({ data }) => data[part] ?? [])
    expect(all.length).toBeGreaterThan(2)
    expect([...new Set(all.flatMap((data) => pathsIn(data, fields)))].sort()).toEqual([...fields].sort())
  })

  it.each(['budget', 'run'] as const)('The table of %s marks exactly the fields that an event may lack', (part) => {
    const rows = rowsOf(part)
    const fields = new Set(optional(rows.map(([field]) => field)))
    const all = emitted.flatMap(({ data }) => data[part] ?? []).map((data) => pathsIn(data, fields))
    const always = [...fields].filter((field) => all.every((paths) => paths.includes(field)))
    expect(rows.flatMap(([field]) => (field.endsWith('?') ? [] : field)).sort()).toEqual(always.sort())
  })

  it.each(['budget', 'run'] as const)('The table of %s has the members of each object', (part) => {
    const shapes = rowsOf(part).flatMap(([field, type]) => {
      const shape = shapeOf(type)
      return shape ? [[field.replace('?', ''), shape] as const] : []
    })
    expect(shapes.length).toBeGreaterThan(3)
    for (const [field, shape] of shapes) {
      const values = emitted.flatMap(({ data }) => Object(data[part])[field] ?? [])
      expect([field, optional(shape)]).toEqual([field, optional(shapeIn(values))])
      const sometimes = shapeIn(values).filter((name) => name.endsWith('?'))
      expect([field, sometimes.filter((name) => !shape.includes(name))]).toEqual([field, []])
    }
  })

  it('Only budget.exceeded has a budget, and its level is a limit', () => {
    for (const { eventType, data } of emitted)
      expect(Object.keys(data).sort()).toEqual(eventType === 'budget.exceeded' ? ['budget', 'run'] : ['run'])
    const levels = emitted.flatMap(({ data }) => Object(data.budget).level ?? [])
    expect([...new Set(levels)].sort()).toEqual(['hard', 'soft'])
  })
})

describe('the names on the page', () => {
  it('The plugin dispatches every event of the page, and knows no other', () => {
    const names = [...namesIn(PAGE, 'event')].sort()
    expect(names).toEqual(membersOf('RunEvents'))
    expect([...new Set(emitted.map(({ eventType }) => eventType))].sort()).toEqual(names)
  })

  it.each([
    ['option', 'AlertOptions'],
    ['option of a budget', 'Budget'],
    ['option of a limit', 'sallyport#BudgetLimit'],
    ['option of `check`', 'BudgetQuestion'],
    ['member', 'RunEventTarget'],
  ])('The table with the first column "%s" has every member of %s', (title, type) => {
    // A tenant is a member of every call.
    const names = namesIn(PAGE, title).filter((name) => name !== 'tenant')
    expect([...names].sort()).toEqual(membersOf(type))
  })
})

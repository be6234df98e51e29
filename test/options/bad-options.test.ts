import { describe, expect, it } from 'vitest'
import { toNode } from '../../src/adapters/node.ts'
import { anyOf, appSecrets } from '../../src/auth/index.ts'
import { email } from '../../src/channels/email.ts'
import { failover } from '../../src/channels/failover.ts'
import { isClientError } from '../../src/client/index.ts'
import { fakeClock, recordingChannel } from '../../src/contract-tests/index.ts'
import { isSallyportError } from '../../src/errors.ts'
import {
  createSallyport,
  defineEvents,
  handleDispatch,
  handleSessionRun,
  handleSessionRunBatch,
} from '../../src/index.ts'
import { agentsSdk, aiSdk, claudeQuery, langchainCallbacks, recordingFetch } from '../../src/integrations/index.ts'
import { allOf, preferences, quietHours, throttle } from '../../src/policies/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { question } from '../policies/question.ts'
import { reported } from '../support/reported.ts'
import { nameOf, ROWS } from './all-rows.ts'
import { sallyport } from './host-rows.ts'
import { optionMembers } from './option-members.ts'
import type { OptionRow } from './option-rows.ts'

/** The problems that a call reports, one a line; empty if it accepts the options. */
async function linesOf({ run }: OptionRow, options: unknown): Promise<string> {
  try {
    const given: unknown = await run(options as never)
    const { ok, body } = Object(given)
    return ok === false ? String(body.detail).replaceAll('; ', '\n') : ''
  } catch (error) {
    if (isSallyportError(error) && error.status === 422) {
      return error.message.replace(/^.*? as validation_failed: /, '').replaceAll('; ', '\n')
    }
    if (isSallyportError(error)) {
      expect(error.code).toMatch(/^(?:config|option|events)_invalid$/)
      return reported(error)
    }
    if (isClientError(error) && error.code === 'network') return ''
    if (isClientError(error)) {
      expect(error.code).toBe('option_invalid')
      return error.message.replace(/^\S+: /, '').replaceAll('; ', '\n')
    }
    throw error
  }
}

/** The valid options of a row, with some changed. */
function changed(row: OptionRow, change: object): unknown {
  return replaced(row, (own) => ({ ...own, ...change }))
}

/** The valid options of a row, with its own options replaced. */
function replaced({ good, at = '' }: OptionRow, replace: (own: object) => object): unknown {
  const put = (whole: object, [name, ...rest]: readonly string[]): object => {
    if (name === undefined) return replace(whole)
    const inner = put(Reflect.get(whole, name), rest)
    return Array.isArray(whole) ? whole.with(Number(name), inner) : { ...whole, [name]: inner }
  }
  return put(good, at.match(/[^.[\]]+/g) ?? [])
}

const fieldsOf = ({ at, fields = at === undefined ? '' : `${at}.` }: OptionRow): string => fields

describe.each(ROWS.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
  it('Valid options are accepted', async () => {
    expect(await linesOf(row, row.good)).toBe('')
  })

  it.skipIf(row.open)('Valid inherited options are accepted', async () => {
    expect(await linesOf(row, replaced(row, Object.create))).toBe('')
  })

  it.each(Object.entries(row.bad).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'The option %s refuses %o',
    async (name, value) => {
      expect(`\n${await linesOf(row, changed(row, { [name]: value }))}`).toContain(`\n${fieldsOf(row)}${name}`)
    },
  )

  it.each(Object.keys(row.bad).filter((name) => !row.anything?.includes(name)))(
    'The option %s refuses null',
    async (name) => {
      expect(`\n${await linesOf(row, changed(row, { [name]: null }))}`).toContain(`\n${fieldsOf(row)}${name}`)
    },
  )

  it.each(Object.keys(row.bad).filter(() => !row.open))(
    'A misspelt option %s is refused with a suggestion',
    async (name) => {
      const lines = await linesOf(row, changed(row, { [`${name}x`]: Object(row.good)[name] ?? 1 }))
      const line = lines.split('\n').filter((each) => each.startsWith(`${fieldsOf(row)}${name}x is not an option`))
      expect(line).toHaveLength(1)
      expect(lines.slice(lines.indexOf('is not an option'))).toContain(name)
    },
  )

  it('Missing required options are refused', async () => {
    for (const [name, { isRequired }] of optionMembers(row.call, row.type)) {
      if (!isRequired) continue
      expect(`\n${await linesOf(row, changed(row, { [name]: undefined }))}`).toContain(`\n${fieldsOf(row)}${name}`)
    }
  })

  it('All wrong options are reported at once', async () => {
    const names = Object.keys(row.bad).filter((name) => !row.anything?.includes(name))
    const wrong = { ...Object.fromEntries(names.map((name) => [name, null])), ...(!row.open && { nonsense: 1 }) }
    const lines = `\n${await linesOf(row, changed(row, wrong))}`
    for (const name of names) expect(lines).toContain(`\n${fieldsOf(row)}${name}`)
    if (!row.open) expect(lines).toContain(`\n${row.foreign ?? `${fieldsOf(row)}nonsense`}`)
  })
})

describe('options from a class instance', () => {
  class Limits {
    readonly #max = -1
    get max(): number {
      return this.#max
    }
  }
  class Keyed {
    readonly max = 5
    readonly windowMs = 1_000
    readonly #prefix = 'p'
    key(): string {
      return this.#prefix
    }
  }

  it('Options are read through getters and checked', () => {
    expect(() => throttle(Object.assign(new Limits(), { windowMs: 1_000 }))).toThrow('field "max"')
  })

  it('Methods of an options instance keep their `this`', async () => {
    const verdict = await throttle(new Keyed() as never).decide(question())
    expect(verdict).toMatchObject({ verdict: 'send' })
  })
})

describe('options that are not an object', () => {
  it.each(
    ROWS.filter(({ at, fields, open }) => at === undefined && fields === undefined && !open).map(
      (row) => [nameOf(row), row] as const,
    ),
  )('%s refuses options that are not an object', async (_, row) => {
    for (const none of [null, 'x', 7, [], () => {}]) expect(await linesOf(row, none)).not.toBe('')
  })
})

describe('arguments that are ports', () => {
  const part = {
    verify() {},
    decide() {},
    address() {},
    send() {},
    update() {},
    add() {},
    start() {},
    flush() {},
  } as never
  it.each<[string, (...parts: never[]) => unknown, readonly unknown[]]>([
    ['anyOf', anyOf, []],
    ['anyOf', anyOf, [part, null]],
    ['allOf', allOf, []],
    ['allOf', allOf, [part, { decide: true }]],
    ['failover', failover, [part]],
    ['failover', failover, [part, null]],
    ['preferences', preferences, [undefined]],
    ['preferences', preferences, [{}]],
    ['aiSdk', aiSdk, [part, 'openai/gpt-5']],
    ['aiSdk', aiSdk, [null, { doGenerate() {}, doStream() {} }]],
    ['agentsSdk', agentsSdk, [null]],
    ['agentsSdk', agentsSdk, [part, 'start']],
    ['claudeQuery', claudeQuery, [null, { sessionId: 's' }, part]],
    ['claudeQuery', claudeQuery, [part, { sessionId: 's' }, 'query']],
    ['langchainCallbacks', langchainCallbacks, [null]],
    ['langchainCallbacks', langchainCallbacks, [part, 'start']],
    ['recordingFetch', recordingFetch, [undefined]],
    ['fakeClock', fakeClock, ['2026']],
    ['fakeClock', fakeClock, [null]],
    ['recordingChannel', recordingChannel, ['sent']],
    ['recordingChannel', recordingChannel, [[null]]],
    ['email', email, [{}, { from: 'a@example.com' }]],
    ['appSecrets', appSecrets, [[]]],
    ['appSecrets', appSecrets, [[undefined]]],
    ['toNode', toNode, [{}]],
  ])('%s refuses invalid ports: %#', async (call, make, parts) => {
    const error = await new Promise((resolve) => resolve(make(...(parts as never[])))).catch(
      (thrown: unknown) => thrown,
    )
    expect(isSallyportError(error) || isClientError(error)).toBe(true)
    expect(error).toMatchObject({ code: 'option_invalid', message: expect.stringMatching(`^${call}:`) })
  })

  it('runs.erase() takes exactly one of a session and a user', async () => {
    for (const of of [{}, { sessionId: 's', userId: 'u' }, { sessionId: '' }, { sessionid: 's' }, null])
      await expect(sallyport.runs.erase(of as never)).rejects.toMatchObject({ code: 'option_invalid' })
  })
})

describe('handlers', () => {
  it.each(Object.entries({ handleDispatch, handleSessionRun, handleSessionRunBatch }))(
    '%s answers 503 for invalid ports',
    async (_, handle) => {
      const logger = { log() {} }
      const request = { headers: { authorization: 'Bearer app' }, body: {} }
      for (const ports of [{}, { auth: null }, { auth: { verify: true } }]) {
        const { status } = await handle(request, { ...ports, logger } as never)
        expect(status).toBe(503)
      }
    },
  )
})

describe('the start of a host', () => {
  it('createSallyport() reports all wrong options, channels and events at once', () => {
    const events = defineEvents({ one: { channels: { emial: {} } } })
    const wrong = { auth: {}, store: memoryStore(), events, channels: { email: {} }, worker: { pollMs: 1 }, queues: {} }
    expect(() => createSallyport(wrong as never)).toThrow(
      expect.objectContaining({
        code: 'config_invalid',
        problems: [
          { field: 'queues', detail: 'is not an option; near: queue' },
          {
            field: 'auth',
            detail: 'has no verify; pass appSecrets(…), sessionTokens(…), anyOf(…) or an object { verify(token) }',
          },
          {
            field: 'channels.email',
            detail:
              'has no address, send; pass a channel such as email(…), or an object { address(recipient), send(message) }',
          },
          { field: 'worker.pollMs', detail: 'is 1; must be a whole number from 10 to 3600000' },
          { event: 'one', channel: 'emial', detail: 'is not configured; the channels are: email' },
        ],
      }),
    )
  })

  it('A misspelt option is refused with its suggestion', () => {
    const night = { from: '22:00', to: '08:00', timeZone: 'UTC', channel: ['sms'] }
    expect(() => quietHours(night)).toThrow('field "channel": is not an option; near: channels')
  })
})

import { describe, expect, it } from 'vitest'
import { toNode } from '../../src/adapters/node.ts'
import { anyOf, appSecrets } from '../../src/auth/index.ts'
import { fakeClock, recordingChannel } from '../../src/contract-tests/index.ts'
import {
  createSallyport,
  defineEvents,
  handleDispatch,
  handleSessionRun,
  handleSessionRunBatch,
} from '../../src/index.ts'
import { allOf, preferences, quietHours, throttle } from '../../src/policies/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { question } from '../policies/question.ts'
import { entries } from '../support/entries.ts'
import { ROWS } from './all-rows.ts'
import { sallyport } from './host-rows.ts'
import { membersIn } from './option-members.ts'
import { testArguments, testRow } from './option-tests.ts'

const find = membersIn(entries())
for (const row of ROWS) testRow(row, find)

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

describe('arguments that are ports', () => {
  const part = { verify() {}, decide() {} }
  testArguments('sallyport/auth anyOf', anyOf, [[], [part, null]])
  testArguments('sallyport/auth appSecrets', appSecrets, [[[]], [[undefined]]])
  testArguments('sallyport/node toNode', toNode, [[{}]])
  testArguments('sallyport/policy allOf', allOf, [[], [part, { decide: true }]])
  testArguments('sallyport/policy preferences', preferences, [[undefined], [{}]])
  testArguments('sallyport/testing fakeClock', fakeClock, [['2026'], [null]])
  testArguments('sallyport/testing recordingChannel', recordingChannel, [['sent'], [[null]]])

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

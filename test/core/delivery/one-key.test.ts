import { expect, test } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { handleDispatchWithDefaults } from '../../../src/compose/defaults.ts'
import type { HandlerResult } from '../../../src/core/answers/result.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { APP, recordingLogger, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { handled } from '../../support/handled.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { gate } from '../dispatch/dispatching.ts'

const POST = { eventType: 'e', recipient: 'jane@example.com', eventData: { orderId: 'A-1' } } as const

test('A thousand concurrent posts of one key through every API of two hosts make one dispatch, sent once', async () => {
  const clock = fakeClock()
  const email = recordingChannel()
  const memory = memoryStore({ clock })
  const allRecalled = gate<void>()
  let recalls = 0
  const store: typeof memory = {
    ...memory,
    // Every call waits until all have found the key to be new.
    async recall(tenant, key) {
      const found = await memory.recall(tenant, key)
      if (++recalls === 1_000) allRecalled.open()
      await allRecalled.promise
      return found
    },
  }
  const deps = {
    ...{ auth: testAuth, clock, store, logger: recordingLogger(), channels: { email } },
    events: defineEvents({ e: { channels: { email: {} } } }),
  }
  const [one, other] = [createSallyport(deps), createSallyport(deps)]
  const headers = { ...APP, 'idempotency-key': 'k' }
  const principal = { id: 'app', tenant: 'default' }
  const ways: readonly (() => Promise<HandlerResult<unknown>>)[] = [
    () => one.dispatch(POST, { idempotencyKey: 'k' }),
    () => other.dispatch(POST, { idempotencyKey: 'k' }),
    () => handled(other.endpoints, 'dispatch', principal, { headers, body: POST }),
    () => handleDispatchWithDefaults({ headers, body: { ...POST } }, deps),
  ]
  const answers = await Promise.all(Array.from({ length: 250 }, () => ways.map((way) => way())).flat())
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1_000)
  const reported = answers.map(({ body }) => body as { readonly dispatchId: string; readonly duplicate: boolean })
  expect(new Set(reported.map(({ dispatchId }) => dispatchId)).size).toBe(1)
  expect(reported.filter(({ duplicate }) => !duplicate)).toHaveLength(1)
  expect((await one.dispatches.list({ limit: 100 })).items).toHaveLength(1)
  await Promise.all([one.worker.runDue(), other.worker.runDue()])
  expect(email.sent).toHaveLength(1)
})

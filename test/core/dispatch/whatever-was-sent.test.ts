import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { handleDispatch } from '../../../src/core/dispatch/handle-dispatch.ts'
import { APP, testDeps } from '../../support/deps.ts'
import { fc, runs } from '../../support/properties.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { post } from './dispatching.ts'

const CANARY = 'canary-7f3a'

describe('any request', () => {
  it('Sent values are in no error answer and no log line', async () => {
    const canary = fc.constantFrom(
      CANARY,
      [CANARY],
      { a: CANARY },
      `${CANARY}\0`,
      `${CANARY}\ud800`,
      `a@x, ${CANARY}@y`,
    )
    const fields = fc.record(
      {
        eventType: fc.oneof(fc.constant('order.shipped'), canary),
        recipient: fc.oneof(fc.constant('jane@example.com'), canary),
        eventData: fc.oneof(canary, fc.record({ orderId: canary, total: canary }), fc.record({ orderId: canary })),
        channel: canary,
        sessionId: fc.oneof(canary, fc.constant(`${CANARY} ${CANARY}`)),
        other: canary,
      },
      { requiredKeys: [] },
    )
    const headers = fc.record({ 'idempotency-key': fc.constant(`${CANARY} \u00e9`) }, { requiredKeys: [] })
    await fc.assert(
      fc.asyncProperty(fields, headers, async (body, sent) => {
        const deps = testDeps()
        const answer = await handleDispatch({ headers: { ...APP, ...sent }, body }, deps)
        if (!answer.ok) expect(JSON.stringify(answer)).not.toContain(CANARY)
        expect(JSON.stringify(deps.logger.lines)).not.toContain(CANARY)
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('Any body is answered 202 or 422', async () => {
    const events = defineEvents({ any: { channels: { log: {} } } })
    const log = recordingChannel(undefined, { address: ({ id }) => id })
    const anything = fc.anything({ withBigInt: true, withDate: true, withMap: true, withNullPrototype: true })
    const body = fc.oneof(
      anything,
      fc.record({ eventType: fc.constant('any'), recipient: fc.string({ minLength: 1 }), eventData: anything }),
      fc.record({
        eventType: fc.constant('any'),
        recipient: fc.constant('a'),
        eventData: fc.dictionary(fc.string(), anything),
      }),
    )
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        const answer = await post(testDeps({ log }, { events }), sent, { 'idempotency-key': 'k' })
        expect([202, 422]).toContain(answer.status)
      }),
      { numRuns: runs(2_000) },
    )
  })
})

import { createSallyport, type Sallyport } from '../../../../src/compose/create-sallyport.ts'
import { handleSessionRunWithDefaults } from '../../../../src/compose/defaults.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { throttle } from '../../../../src/policies/index.ts'
import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import { APP, countingIds, recordingLogger, testAuth } from '../../../support/deps.ts'
import type { FakeClock } from '../../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../../support/recording-channel.ts'

const HOUR_MS = 3_600_000
export const START_MS: number = Date.UTC(2027, 0, 15, 12)
/** Longer than a lease and than all delays. */
export const LATER_MS: number = 2 * HOUR_MS

const hello = { text: () => 'Hello' }
const EVENTS = {
  order: { channels: { email: { text: ({ data }: { readonly data: object }) => JSON.stringify(data) } } },
  later: { delayMs: HOUR_MS, channels: { email: hello } },
  first: { route: 'first' as const, delayMs: HOUR_MS, channels: { email: hello, sms: hello } },
  digest: { digest: { windowMs: HOUR_MS }, channels: { email: { text: (given: object) => JSON.stringify(given) } } },
}
const broken = {
  channels: {
    email: {
      text(): string {
        throw new Error('no template')
      },
    },
  },
}

export interface App {
  readonly sallyport: Sallyport<unknown>
  readonly email: RecordingChannel
  send(
    eventType: 'order' | 'later' | 'first' | 'digest' | 'broken',
    recipient: string,
    idempotencyKey?: string,
  ): Promise<string>
}

/** @param isMended The event `broken` has a template that renders. */
export function appOn(store: SallyportStore, clock: FakeClock, isMended = false): App {
  const email = recordingChannel([{ outcome: 'sent', providerMessageId: 'p1' }])
  const sms = recordingChannel([{ outcome: 'sent' }], { address: ({ phone }) => phone ?? '+4915112345678' })
  const sallyport: Sallyport<unknown> = createSallyport<unknown>({
    ...{ auth: testAuth, channels: { email, sms }, store, clock, logger: recordingLogger(), ids: countingIds() },
    events: defineEvents({ ...EVENTS, broken: isMended ? { channels: { email: hello } } : broken }),
    recipients: { find: async (id) => ({ id, email: `${id}@example.com`, phone: '+4915112345678' }) },
    policy: throttle({ max: 100, windowMs: HOUR_MS }),
  })
  return {
    sallyport,
    email,
    async send(eventType, recipient, idempotencyKey) {
      const options = idempotencyKey === undefined ? {} : { idempotencyKey }
      const event = { eventType, recipient, eventData: { title: `For ${recipient}` }, sessionId: 's1' }
      const answer = await sallyport.dispatch(event as never, options)
      if (!answer.ok) throw new Error(JSON.stringify(answer.body))
      return 'dispatchId' in answer.body ? answer.body.dispatchId : ''
    },
  }
}

/** Stores every kind of record: deliveries of each status, runs, tokens, feedback, statistics. */
export async function fillInFlight(store: SallyportStore, clock: FakeClock): Promise<void> {
  const { sallyport, send } = appOn(store, clock)
  await send('order', 'sent', 'key-1')
  await sallyport.worker.runDue()
  await send('order', 'leased')
  await store.claim({ limits: { email: 1 }, leaseMs: 60_000, busy: [] })
  await send('order', 'queued')
  for (const eventType of ['later', 'first', 'broken', 'digest', 'digest'] as const) await send(eventType, 'ada')
  const deps = { auth: testAuth, clock, ids: countingIds(), logger: recordingLogger(), store }
  for (const run of [
    { runId: 'r1', status: 'running', tags: ['nightly'], userId: 'ada', usage: { inputTokens: 10 } },
    { runId: 'r2', status: 'failed', parentRunId: 'r1', model: 'm', provider: 'p', usage: { inputTokens: 5 } },
  ]) {
    const { status, body } = await handleSessionRunWithDefaults({ headers: APP, body: { sessionId: 's1', run } }, deps)
    if (status !== 201) throw new Error(JSON.stringify(body))
  }
  const token = {
    jti: 'jti_1',
    tenant: 'default',
    sessionId: 's1',
    operation: 'dispatch',
    outcome: 'accepted',
  } as const
  await store.recordTokenUses([{ useId: 'use_1', ...token, id: 'dsp_1', times: 1, agoMs: 0 }])
  await store.revokeTokens({
    tenant: 'default',
    by: 'jti',
    value: 'jti_2',
    revokedAt: START_MS,
    keptForMs: 10 * HOUR_MS,
  })
  const preferences = { kind: 'preferences', tenant: '', key: 'k1.abc' }
  const body = { tenant: 'default', preferences: { channels: { sms: false } } }
  await store.changeRecord(preferences, () => ({ ...preferences, sort: [], body }))
  await store.recordHeartbeat({ workerId: 'worker_1', aliveForMs: HOUR_MS })
  await store.addSuppressions([
    {
      ...{ suppressionId: 'sup_1', addressKey: 'k1.def', tenant: 'default', channel: 'email' },
      ...{ reason: 'complained', source: 'host' },
    },
  ])
  const report = {
    tenant: 'default',
    channel: 'email',
    owner: 'delivery:dlv_1',
    kind: 'delivered',
    at: START_MS,
  } as const
  await store.recordFeedback({ feedback: [{ feedbackId: 'fbk_1', ...report }] })
  await sallyport.stop({ graceMs: 0 })
}

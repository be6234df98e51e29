import { createSallyport, type Sallyport } from '../../../../src/compose/create-sallyport.ts'
import { handleSessionRunWithDefaults } from '../../../../src/compose/defaults.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import { throttle } from '../../../../src/policies/index.ts'
import type { NewPluginRecord } from '../../../../src/ports/record-store.ts'
import type { SallyportStore } from '../../../../src/ports/sallyport-store.ts'
import { APP, countingIds, recordingLogger, testAuth } from '../../../support/deps.ts'
import type { FakeClock } from '../../../support/fake-clock.ts'
import { type RecordingChannel, recordingChannel } from '../../../support/recording-channel.ts'
import { putRecords } from '../../../support/records.ts'

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

const timed = (name: string): string => `${name.length}:${name}${String(START_MS).padStart(16, '0')}`

/** A record of each kind of the plugins, as they store it. */
export const PLUGIN_RECORDS: readonly NewPluginRecord<object>[] = [
  {
    ...{ kind: 'token_uses', tenant: 'default', key: 'use_1', expiresAt: START_MS },
    sort: [timed('').slice(2), timed('jti_1'), timed('s1'), timed('accepted')],
    body: { operation: 'dispatch', id: 'dsp_1', times: 1 },
  },
  {
    ...{ kind: 'preferences', tenant: '', key: 'k1.abc', sort: [] },
    body: { tenant: 'default', preferences: { channels: { sms: false } } },
  },
  { kind: 'heartbeats', tenant: '', key: 'worker_1', sort: [], expiresAt: START_MS + HOUR_MS, body: {} },
  {
    ...{ kind: 'suppressions', tenant: '', key: 'sup_1', sort: ['k1.def', timed('default')] },
    body: { tenant: 'default', channel: 'email', reason: 'complained', source: 'host', createdAt: START_MS },
  },
  {
    ...{ kind: 'feedback', tenant: 'default', key: 'fbk_1', sort: ['delivery:dlv_1'], expiresAt: START_MS },
    body: { channel: 'email', kind: 'delivered', at: START_MS },
  },
]

/** Stores every kind of record: deliveries of each status, runs, tokens, records of plugins. */
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
  await store.revokeTokens({
    tenant: 'default',
    by: 'jti',
    value: 'jti_2',
    revokedAt: START_MS,
    keptForMs: 10 * HOUR_MS,
  })
  await putRecords(store, ...PLUGIN_RECORDS)
  await sallyport.stop({ graceMs: 0 })
}

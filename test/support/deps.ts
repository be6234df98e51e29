import * as v from 'valibot'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchDeps } from '../../src/core/dispatch/handle-dispatch.ts'
import type { DispatchGrant, Principal } from '../../src/model/principal.ts'
import type { AuthVerifier } from '../../src/ports/auth-verifier.ts'
import type { Channel } from '../../src/ports/channel.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import type { EventCatalog } from '../../src/ports/event-catalog.ts'
import type { IdGenerator } from '../../src/ports/id-generator.ts'
import type { LogFields, Logger } from '../../src/ports/logger.ts'
import type { RevocationStore } from '../../src/ports/revocation-store.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { type FakeClock, fakeClock } from './fake-clock.ts'
import { recordingChannel } from './recording-channel.ts'

/** Tokens known to {@link testAuth}. */
export const APP = { authorization: 'Bearer app' }
export const SESSION = { authorization: 'Bearer session' }
export const GRANTED = { authorization: 'Bearer granted' }

export const GRANT: DispatchGrant = { events: ['order.shipped'], channels: ['email'], recipients: ['jane@example.com'] }

/** Exchanges every session token for the same one. Accepts `app`, `other` (another tenant), `session` (of s1, no grant) and `granted` (of s1); throws for `broken`. */
export const testAuth: AuthVerifier = {
  async verify(token) {
    const known: Record<string, Principal> = {
      app: { id: 'app', tenant: 'default' },
      other: { id: 'other', tenant: 'other' },
      session: { id: 'session', tenant: 'default', sessionId: 's1' },
      granted: { id: 'granted', tenant: 'default', sessionId: 's1', dispatch: GRANT },
    }
    if (token === 'broken') throw new Error('the key server is down')
    return (Object.hasOwn(known, token) && known[token]) || { refused: 'invalid_token' }
  },
  async exchange(_, { expiresAt }) {
    return { token: 'eyJhbGciOiJIUzI1NiJ9.eyJzaWQiOiJzMSJ9.c2lnbmF0dXJl', jti: 'exchanged', expiresAt }
  },
}

/** Counters and workers count apart, so that the ids of dispatches do not depend on statistics. */
export function countingIds(): IdGenerator {
  const counts = { own: 0, other: 0 }
  return { next: (prefix) => `${prefix}_${++counts[prefix === 'cnt' || prefix === 'wrk' ? 'own' : 'other']}` }
}

export interface RecordingLogger extends Logger {
  readonly lines: { level: string; event: string; fields: LogFields }[]
}

export function recordingLogger(): RecordingLogger {
  const lines: RecordingLogger['lines'] = []
  return { lines, log: (level, event, fields) => void lines.push({ level, event, fields }) }
}

const orderEvents: EventCatalog = defineEvents({
  'order.shipped': {
    data: v.object({ orderId: v.string(), total: v.number() }),
    channels: {
      email: {
        subject: ({ data }) => `Order ${data.orderId} shipped`,
        html: ({ data }) => `<p>${data.orderId}</p>`,
      },
      sms: { when: ({ data }) => data.total >= 100, text: ({ data }) => `Order ${data.orderId} is on its way` },
    },
  },
})

export interface TestDeps extends DispatchDeps {
  readonly clock: FakeClock
  readonly logger: RecordingLogger
  readonly store: DispatchStore & RunStore & RevocationStore
}

/** Deps with a memory store on a fake clock, and recording channels. */
export function testDeps(
  channels: Readonly<Record<string, Channel>> = {
    email: recordingChannel(),
    sms: recordingChannel(undefined, { address: ({ phone }) => phone }),
  },
  rest: Partial<DispatchDeps> = {},
): TestDeps {
  const clock = fakeClock()
  return {
    auth: testAuth,
    events: orderEvents,
    store: memoryStore({ clock }),
    channels,
    ids: countingIds(),
    ...rest,
    clock,
    logger: recordingLogger(),
  } as TestDeps
}

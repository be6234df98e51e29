import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport, type Sallyport } from '../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import type { StandardSchema } from '../../src/core/dispatch/catalog/event-definition.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { countingIds, type RecordingLogger, recordingLogger, testAuth } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'

/** Wrong values that any method can return by mistake, by their names in the log. */
export const WRONG: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['undefined', undefined],
  ['null', null],
  ['a string', 'canary'],
  ['a number', 77_001],
  ['an array of 1', ['canary']],
  ['an object with wrong (a string)', { wrong: 'canary' }],
])

/** Ways to return a value. */
export const WAYS: Readonly<Record<string, (value: unknown) => unknown>> = {
  'at once': (value) => value,
  'by a promise': async (value) => value,
  // biome-ignore lint/suspicious/noThenProperty: a host may return a promise of another library
  'by a thenable': (value) => ({ then: (resolve: (value: unknown) => void) => resolve(value) }),
}

type Answer = () => unknown

/** One method of a port. */
export interface HostPort {
  /** Its name in messages. */
  readonly call: string
  /** Options with a port whose method gives this answer. */
  options(answer: Answer): Partial<SallyportOptions<unknown>>
  /** Uses it. Returns the answer to a caller, or the state of the delivery. */
  use(app: HostApp): Promise<string>
  /** Names in {@link WRONG} that it may return. */
  readonly allows: readonly string[]
  /** Ways in {@link WAYS} that it does not take. */
  readonly refusesWays?: readonly string[]
  /** Result after a wrong value. */
  readonly wrong: string
  /** Result after a throw, and after a rejection. Default: that of a wrong value. */
  readonly thrown?: string
  /** Result of a call that never ends, and the limit in milliseconds. Absent: it is called synchronously. */
  readonly silent?: { readonly ms: number; readonly result: string }
}

export interface HostApp {
  readonly sallyport: Sallyport<unknown>
  readonly clock: FakeClock
  readonly logger: RecordingLogger
  /** @param token Default: `app`. */
  post(path: string, body: object, token?: string): Promise<string>
}

const DISPATCH = '/api/outbound/dispatch'
const RUN = '/api/agents/session/run'

const dispatched = ({ post }: HostApp): Promise<string> => post(DISPATCH, { eventType: 'order', recipient: 'ada' })
const recorded = ({ post }: HostApp): Promise<string> =>
  post(RUN, {
    sessionId: 's1',
    run: { runId: 'r1', provider: 'openai', model: 'm', status: 'completed', tags: ['t'], counts: { inputTokens: 5 } },
  })

/** Accepts an event, sends it until nothing is due for two hours, and counts the attempts. */
async function sent({ sallyport, clock }: HostApp): Promise<string> {
  await sallyport.dispatch({ eventType: 'order', recipient: 'ada@example.com' })
  for (let hour = 0; hour < 24; hour += 1) {
    await sallyport.worker.runDue()
    clock.advance(300_000)
  }
  const [one] = (await sallyport.dispatches.list()).items
  const [{ status, reason, attempts, lastCode } = {} as never] = one?.deliveries ?? []
  return [status, reason, lastCode, `${attempts} attempts`].filter(Boolean).join(' ')
}

function schemaWith(validate: Answer): StandardSchema {
  return { '~standard': { version: 1, vendor: 'own', validate: validate as never } }
}

const channels = { email: recordingChannel() }
const ALL = [...WRONG.keys()]

export const HOST_PORTS: readonly HostPort[] = [
  {
    call: 'verify() of the verifier',
    options: (answer) => ({ auth: { verify: answer as never } }),
    use: dispatched,
    allows: [],
    wrong: '500 internal_error',
    thrown: '503 auth_unavailable',
    silent: { ms: 5_000, result: '503 auth_unavailable' },
  },
  {
    call: 'find() of the directory',
    options: (answer) => ({ recipients: { find: answer as never } }),
    use: dispatched,
    allows: ['undefined', 'null'],
    wrong: '503 directory_unavailable',
    silent: { ms: 5_000, result: '503 directory_unavailable' },
  },
  {
    call: 'decide() of the policy',
    options: (answer) => ({ policy: { decide: answer as never } }),
    use: dispatched,
    allows: [],
    wrong: '503 policy_unavailable',
    silent: { ms: 5_000, result: '503 policy_unavailable' },
  },
  {
    call: 'consume() of the rate limiter',
    options: (answer) => ({ rateLimiter: { consume: answer as never } }),
    use: dispatched,
    allows: ['undefined', 'null'],
    wrong: '503 rate_limiter_unavailable',
    silent: { ms: 5_000, result: '503 rate_limiter_unavailable' },
  },
  {
    call: 'redact() of the redactor',
    options: (answer) => ({ redactor: { redact: answer as never } }),
    use: recorded,
    allows: ['a string'],
    wrong: '503 redactor_unavailable',
    silent: { ms: 5_000, result: '503 redactor_unavailable' },
  },
  {
    call: 'price() of the price book',
    options: (answer) => ({ prices: { price: answer as never } }),
    use: recorded,
    allows: ['undefined'],
    refusesWays: ['by a promise', 'by a thenable'],
    wrong: '500 internal_error',
  },
  {
    call: 'validate() of the data schema',
    options: (answer) => ({ events: defineEvents({ order: { data: schemaWith(answer), channels: { email: {} } } }) }),
    use: dispatched,
    allows: [],
    wrong: '500 internal_error',
    thrown: '422 validation_failed',
    silent: { ms: 2_000, result: '500 internal_error' },
  },
  {
    call: 'address() of the channel',
    options: (answer) => ({ channels: { email: { ...recordingChannel(), address: answer as never } } }),
    use: async (app) => `${await dispatched(app)} ${await firstReason(app)}`,
    allows: ['undefined', 'null', 'a string'],
    refusesWays: ['by a promise', 'by a thenable'],
    wrong: '202 failed channel_error',
  },
  {
    call: 'send() of the channel',
    options: (answer) => ({ channels: { email: { address: ({ email }) => email, send: answer as never } } }),
    use: sent,
    allows: [],
    wrong: 'failed channel_error outcome_invalid 1 attempts',
    thrown: 'failed channel_error channel_error 9 attempts',
  },
  {
    call: 'listen() of the queue',
    options: (answer) => ({ queue: { wake: () => {}, listen: answer as never } }),
    async use({ sallyport, logger }) {
      try {
        sallyport.worker.start()
        return 'started'
      } catch (cause) {
        logger.log('error', 'thrown', { cause: cause instanceof Error ? cause.message : '' })
        return 'not started'
      } finally {
        await sallyport.worker.stop()
      }
    },
    allows: [],
    refusesWays: ['by a promise', 'by a thenable'],
    wrong: 'not started',
  },
  // These return nothing that is read.
  ...(['onAccepted', 'onSent'] as const).map((name) => ({
    call: name,
    options: (answer: Answer) => ({ hooks: { [name]: answer } }),
    use: sent,
    allows: ALL,
    wrong: 'sent 1 attempts',
  })),
  {
    call: 'wake() of the queue',
    options: (answer) => ({ queue: { wake: answer as never, listen: () => () => {} } }),
    use: sent,
    allows: ALL,
    wrong: 'sent 1 attempts',
  },
  {
    call: 'export() of an exporter',
    options: (answer) => ({ exporters: [{ export: answer as never }] }),
    use: recorded,
    allows: ALL,
    wrong: '201',
  },
]

async function firstReason({ sallyport }: HostApp): Promise<string> {
  const [one] = (await sallyport.dispatches.list()).items
  return one?.deliveries.map(({ status, reason }) => `${status} ${reason ?? ''}`.trim()).join() ?? ''
}

/** A host with one such port, on a fake clock. */
export function hostApp(port: HostPort, answer: Answer): HostApp {
  const clock = fakeClock()
  const logger = recordingLogger()
  const sallyport = createSallyport<unknown>({
    auth: testAuth,
    events: defineEvents({ order: { channels: { email: {} } } }),
    channels,
    recipients: { find: async (id) => ({ id, email: 'ada@example.com' }) },
    ...{ store: memoryStore({ clock }), clock, logger, ids: countingIds() },
    plugins: everyPlugin(),
    ...port.options(answer),
  })
  const fetch = toFetch(sallyport)
  return {
    ...{ sallyport, clock, logger },
    async post(path, body, token = 'app') {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const given = { method: 'POST', headers, body: JSON.stringify(body) }
      const answered = await fetch(new Request(`https://host.test${path}`, given))
      const { code } = (await answered.json()) as { readonly code?: string }
      return [answered.status, code].filter(Boolean).join(' ')
    },
  }
}

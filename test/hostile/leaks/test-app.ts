import { randomBytes } from 'node:crypto'
import { onTestFinished } from 'vitest'
import { anyOf, appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from '../../../src/auth/index.ts'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import type { Plugin } from '../../../src/plugins/plugin.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { ALL_POSTS } from '../../support/actions.ts'
import { everyPlugin } from '../../support/every-plugin.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { express5Host } from '../../support/hosts/express.ts'
import type { HostOptions } from '../../support/hosts/host.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { type Canaries, createCanaries } from './canaries.ts'
import { catalog } from './catalog.ts'
import { type Collected, collecting } from './collecting.ts'
import { breakable, type Faults } from './faults.ts'

/** Parts of a request that differ from the default. */
export interface RequestParts {
  /** Default: the application's secret. `null`: no token. */
  readonly token?: string | null
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly path?: string
  readonly body?: unknown
  /** Replaces the JSON body. */
  readonly text?: string | ReadableStream
}

export interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** Canaries for people and content. */
export interface Planted {
  readonly secret: string
  readonly sessionToken: string
  /** Session of the session token. */
  readonly sessionId: string
  readonly userId: string
  readonly mail: string
  readonly phone: string
  readonly url: string
  readonly attribute: string
  /** Content of the host's templates. */
  readonly content: string
}

/** A host behind a real server, in which every secret is a canary. */
export interface TestApp extends Planted {
  readonly canaries: Canaries
  readonly collected: Collected
  readonly clock: FakeClock
  readonly faults: Faults
  readonly sallyport: Sallyport
  /** Sends a request and records its answer. */
  post(action: string, sending?: RequestParts): Promise<Answer>
}

export interface TestAppOptions {
  /** Replace the recording channels. */
  readonly channels?: (canaries: Canaries) => Promise<Readonly<Record<string, Channel>>>
  readonly mount?: HostOptions
  /** Options of plugins, by the names of the plugins. Replace the default ones; the host has no `consent` by default. */
  readonly pluginOptions?: Readonly<Record<string, object>>
  /** Further plugins. */
  readonly plugins?: readonly Plugin[]
  readonly rest?: Partial<Omit<SallyportOptions<unknown>, 'plugins'>>
}

export async function openTestApp({
  channels,
  mount,
  pluginOptions,
  plugins = [],
  rest = {},
}: TestAppOptions = {}): Promise<TestApp> {
  const canaries = createCanaries()
  const collected = collecting(canaries)
  const clock = fakeClock()
  const faults: Faults = new Map()
  const credentials = await plantCredentials(canaries, clock)
  const planted = { ...credentials.planted, ...plantPeople(canaries) }
  const ops = `${canaries.word('recipient as sent')}@ops.example`
  const parts = {
    auth: breakable('auth', credentials.auth, faults),
    store: breakable('store', memoryStore({ clock }), faults),
    recipients: breakable('recipients', directoryOf(planted), faults),
    policy: breakable('policy', { decide: async () => ({ verdict: 'send' as const }) }, faults),
    redactor: breakable('redactor', { redact: (text: string) => text }, faults),
    prices: breakable('prices', { price: () => undefined }, faults),
    rateLimiter: breakable('rateLimiter', { consume: async () => undefined }, faults),
    queue: breakable('queue', { wake: () => {}, listen: () => () => {} }, faults),
    exporters: [breakable('exporter', { export: () => {} }, faults)],
    hooks: breakable('hook', { onAccepted() {}, onSent() {}, onFailed() {}, onSkipped() {} }, faults),
  }
  const sallyport = createSallyport({
    ...parts,
    events: catalog(planted, faults),
    channels: {
      email: breakable('channel', recordingChannel(), faults),
      sms: recordingChannel(undefined, { address: ({ phone }) => phone }),
      webhook: recordingChannel(undefined, { address: ({ url }) => url }),
      any: recordingChannel(undefined, { address: ({ id }) => id }),
      ...(await channels?.(canaries)),
    },
    plugins: [
      { name: 'checking', setup: () => ({ guard: breakable('guard', { check: async () => undefined }, faults) }) },
      ...everyPlugin({
        consent: false,
        alerts: {
          budgets: [{ name: 'few', per: 'user', hard: { tokens: 1 } }],
          runEvents: {
            'run.failed': () => throwing('run event', faults, { recipient: ops }),
            'run.expired': () => ({ recipient: ops }),
            'budget.exceeded': () => ({ recipient: ops }),
          },
        },
        ...pluginOptions,
      }),
      ...plugins,
    ],
    clock,
    logger: collected.logger,
    ...rest,
  })
  const host = await express5Host.start(sallyport, mount)
  onTestFinished(async () => {
    for (const error of host.errors) collected.keep('process', error)
    await host.close()
  })
  return { ...planted, canaries, collected, clock, faults, sallyport, post: postTo(host.url, planted, collected) }
}

/** Throws the fault for this name, or returns the value. */
export function throwing<T>(name: string, faults: Faults, value: T): T {
  if (faults.has(name)) throw faults.get(name)
  return value
}

type Credentials = Pick<Planted, 'secret' | 'sessionToken' | 'sessionId' | 'userId'>

async function plantCredentials(
  canaries: Canaries,
  clock: FakeClock,
): Promise<{ planted: Credentials; auth: ReturnType<typeof anyOf> }> {
  const { secret } = await generateAppSecret({ env: 'test' })
  canaries.watch('application secret', secret.slice('sp_test_'.length))
  const bytes = randomBytes(32)
  const key = canaries.watch('signing key', bytes.toString('base64url'))
  canaries.watch('signing key', bytes.toString('latin1'))
  const [sessionId, userId] = [0, 1].map(() => canaries.word('session and user of a token')) as [string, string]
  const events = ['order', 'asked', 'digested', canaries.word('grant of a token')]
  const channels = ['email', 'sms', 'webhook', 'any']
  const recipients = [`u-${userId}`, `${canaries.word('grant of a token')}@example.com`]
  const grants = { dispatch: { events, channels, recipients, maxDispatches: 2 } }
  const signing = { kid: 'k1', key }
  const sessionToken = await issueSessionToken({ sessionId, userId, grants, key: signing, audience: 'api', clock })
  const [, claims = '', signature = ''] = sessionToken.split('.')
  canaries.watch('session token', signature)
  canaries.watch('id of a token', JSON.parse(Buffer.from(claims, 'base64url').toString()).jti)
  const tokens = sessionTokens({ keys: [signing], audience: 'api', clock })
  return { planted: { secret, sessionToken, sessionId, userId }, auth: anyOf(appSecrets([secret], { clock }), tokens) }
}

function plantPeople(canaries: Canaries): Omit<Planted, keyof Credentials> {
  const address = (): string => canaries.word('address in the directory')
  return {
    mail: `${address()}@mail.example`,
    phone: canaries.phone('address in the directory'),
    url: `https://hook.example/${address()}`,
    attribute: canaries.word('attributes of a recipient'),
    content: canaries.word('content'),
  }
}

/** A directory that knows every id that begins with `u-`. */
function directoryOf({ mail, phone, url, attribute }: Pick<Planted, 'mail' | 'phone' | 'url' | 'attribute'>) {
  return {
    async find(id: string) {
      if (!id.startsWith('u-')) return undefined
      return {
        id,
        email: mail,
        phone,
        url,
        name: attribute,
        locale: 'de',
        attributes: { plan: attribute, [attribute]: 1 },
      }
    },
  }
}

function postTo(url: string, { secret }: Planted, collected: Collected): TestApp['post'] {
  /** All texts sent with each credential. */
  const sent = new Map<string | null, string>()
  return async (action, { token = secret, method = 'POST', headers, query = '', body, text, ...rest } = {}) => {
    const path = rest.path ?? ALL_POSTS.find(({ name }) => name === action)?.path
    const content = method === 'GET' ? undefined : (text ?? JSON.stringify(body))
    const all = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }), ...headers }
    const own = `${sent.get(token) ?? ''}\n${JSON.stringify(all)}${content}`
    sent.set(token, own)
    const answer = await fetch(`${url}${path}${query}`, {
      method,
      headers: all,
      ...(content !== undefined && { body: content }),
      ...(content instanceof ReadableStream && { duplex: 'half' as const }),
    })
    const said = await answer.text()
    const column = !answer.ok ? 'problem' : query.includes('dryRun=true') ? 'preview' : 'answer'
    collected.keep(column, `${answer.status} ${JSON.stringify([...answer.headers])} ${said}`, own)
    return { status: answer.status, body: jsonOf(said) }
  }
}

function jsonOf(text: string): Answer['body'] {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

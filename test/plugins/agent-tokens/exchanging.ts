import { toFetch } from '../../../src/adapters/fetch.ts'
import { anyOf } from '../../../src/auth/any-of.ts'
import { appSecrets } from '../../../src/auth/app-secrets.ts'
import {
  issueSessionToken,
  type SessionTokenGrants,
  type SessionTokenKey,
  type SessionTokensOptions,
  sessionTokens,
} from '../../../src/auth/index.ts'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import type { SallyportOptions } from '../../../src/compose/options.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { agentTokens } from '../../../src/plugins/index.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

export const KEY: SessionTokenKey & { readonly key: Uint8Array } = { kid: 'k1', key: new Uint8Array(32).fill(7) }
export const AUDIENCE = 'api'

export const PATHS = {
  dispatch: '/api/outbound/dispatch',
  run: '/api/agents/session/run',
  exchange: '/api/agents/session/token',
} as const

export const GRANT = { events: ['e'], channels: ['a'], recipients: ['jane@example.com', 'joe@example.com'] } as const

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a body of any endpoint.
  readonly body: any
}

/** A host with session tokens, on a fake clock. */
export interface TokenHost {
  readonly sallyport: Sallyport<unknown, readonly [ReturnType<typeof agentTokens>]>
  readonly clock: FakeClock
  readonly logger: ReturnType<typeof recordingLogger>
  issue(grants?: SessionTokenGrants, more?: Partial<Parameters<typeof issueSessionToken>[0]>): Promise<string>
  post(
    path: keyof typeof PATHS,
    token: string,
    body: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>
  /** Exchanges a token and returns the new one. */
  exchange(token: string, body?: object): Promise<string>
  dispatch(token: string, recipient?: string): Promise<Answer>
  run(token: string, runId?: string): Promise<Answer>
}

export interface HostGiven {
  readonly options?: Partial<SallyportOptions<unknown>>
  readonly tokens?: Partial<SessionTokensOptions>
  readonly clock?: FakeClock
}

const events: EventCatalog<unknown> = defineEvents({ e: { channels: { a: {} } } })

export function tokenHost(secret: string, { options, tokens, clock = fakeClock() }: HostGiven = {}): TokenHost {
  const logger = recordingLogger()
  const sallyport = createSallyport({
    auth: anyOf(appSecrets([secret], { clock }), sessionTokens({ keys: [KEY], audience: AUDIENCE, clock, ...tokens })),
    events,
    store: memoryStore({ clock }),
    channels: { a: recordingChannel() },
    ...{ clock, logger, ids: countingIds() },
    ...options,
    plugins: [agentTokens()],
  })
  const fetch = toFetch(sallyport)

  const post: TokenHost['post'] = async (path, token, body, headers) => {
    const answer = await fetch(
      new Request(`http://host.test${PATHS[path]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    )
    return { status: answer.status, body: await answer.json() }
  }
  return {
    ...{ sallyport, clock, logger, post },
    issue: (grants = {}, more) =>
      issueSessionToken({ sessionId: 's1', grants, key: KEY, audience: AUDIENCE, clock, ...more }),
    async exchange(token, body = {}) {
      const answer = await post('exchange', token, { grants: {}, ...body })
      if (answer.status !== 201) throw new Error(`was not exchanged: ${JSON.stringify(answer.body)}`)
      return answer.body.token
    },
    dispatch: (token, recipient = 'jane@example.com') => post('dispatch', token, { eventType: 'e', recipient }),
    run: (token, runId = 'r1') => post('run', token, { sessionId: 's1', run: { runId } }),
  }
}

import { type Channel, createSallyport, defineEvents, type SendOutcome } from 'sallyport'
import { memoryStore } from 'sallyport/storage/memory'
import { type ChannelTrial, channelContract, type ProviderBehaviours, type ReceivedMessage } from 'sallyport/testing'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { bodyOf, deadPort, deferred, httpPeer } from '../channels/peers.ts'
import { documented } from '../support/documented.ts'
import {
  CHATTER,
  type ChatProvider,
  discordProvider,
  fits,
  type ProviderAnswer,
  SECRET,
  slackProvider,
  teamsProvider,
  telegramProvider,
} from './chat-providers.ts'

/** The exports of the page. */
interface Recipes {
  slack(rooms: ReadonlyMap<string, string | undefined>): Channel
  discord(rooms: ReadonlyMap<string, string | undefined>): Channel
  teams(rooms: ReadonlyMap<string, string | undefined>): Channel
  telegram(token: string, baseUrl?: string): Channel
}

const { slack, discord, teams, telegram } = await recipes()

/** Runs the code of the page as printed: without its types it imports nothing. */
async function recipes(): Promise<Recipes> {
  const { outputText } = ts.transpileModule(documented('docs/channels/chat.md', 'export const slack'), {
    compilerOptions: { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  })
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(outputText)}`)
}

interface Recipe {
  readonly name: string
  readonly provider: ChatProvider
  readonly address: string
  channelAt(origin: string): Channel
}

const room = (origin: string, { path }: ChatProvider): Map<string, string> => new Map([['ops', origin + path]])

const RECIPES: readonly Recipe[] = [
  {
    ...{ name: 'slack', provider: slackProvider, address: 'ops' },
    channelAt: (origin) => slack(room(origin, slackProvider)),
  },
  {
    ...{ name: 'discord', provider: discordProvider, address: 'ops' },
    channelAt: (origin) => discord(new Map([['ops', `${origin}/api/webhooks/1234/${SECRET}`]])),
  },
  {
    ...{ name: 'teams', provider: teamsProvider, address: 'ops' },
    channelAt: (origin) => teams(room(origin, teamsProvider)),
  },
  {
    ...{ name: 'telegram', provider: telegramProvider, address: '-1001' },
    channelAt: (origin) => telegram(`42:${SECRET}`, origin),
  },
]

/** Simulates a provider on the loopback interface. `answer` replaces its response to a valid request. */
async function fakeProvider(provider: ChatProvider) {
  const received: string[] = []
  const state: { answer: ProviderAnswer | 'reset' | (() => void); asked: number } = {
    answer: provider.accepted,
    asked: 0,
  }
  const port = await httpPeer(async (request, response) => {
    state.asked += 1
    const body = await bodyOf(request)
    const text = fits(provider, request) ? provider.textOf(JSON.parse(body)) : undefined
    const answer = text === undefined ? provider.rejected : state.answer
    if (answer === 'reset') return void request.socket.resetAndDestroy()
    if (typeof answer === 'function') return answer()
    if (text !== undefined && answer === provider.accepted) received.push(text)
    response.writeHead(answer.status, answer.headers).end(answer.body)
  })
  return { origin: `http://127.0.0.1:${port}`, received, state }
}

async function trialOf({ name, provider, address, channelAt }: Recipe): Promise<ChannelTrial> {
  const { origin, received, state } = await fakeProvider(provider)
  const respondWith = (answer: typeof state.answer) => (): void => {
    state.answer = answer
  }
  const outcomes: ProviderBehaviours = {
    succeed: respondWith(provider.accepted),
    reject: respondWith(provider.rejected),
    retry: respondWith(provider.limited),
    unknown: respondWith('reset'),
    hang() {
      const taken = deferred()
      state.answer = taken.resolve
      return { taken: taken.promise }
    },
  }
  return {
    channel: channelAt(origin),
    recipient: { id: 'u1', addresses: { [name]: address } },
    unreachable: { id: 'u2', email: 'ada@example.test' },
    content: (word) => ({ text: `It is ${word}` }),
    outcomes,
    received: () => received.map((text): ReceivedMessage => ({ text })),
    secrets: [SECRET, CHATTER],
  }
}

/** Sends one message through a recipe. */
function send(channel: Channel, to: string, text: string): Promise<SendOutcome> {
  const ids = { dispatchId: 'dsp_1', tenant: 'default', recipient: 'user_42' }
  const context = { deliveryId: 'dlv_1', attempt: 1, history: [], signal: new AbortController().signal }
  return channel.send({ to, content: { text }, eventType: 'order.shipped', ...ids, createdAt: 0 }, context)
}

describe.each(RECIPES)('the $name recipe of docs/channels/chat.md', (recipe) => {
  const { name, provider, address, channelAt } = recipe

  // None of these APIs takes an idempotency key.
  channelContract({ test: it, create: () => trialOf(recipe), capabilities: { idempotencyKey: false } })

  it('The recipe delivers an event to the address from the recipient directory', async () => {
    const { origin, received } = await fakeProvider(provider)
    const { dispatch, dispatches, worker } = createSallyport({
      auth: { verify: async () => ({ id: 'test', tenant: 'default' }) },
      events: defineEvents({ deployed: { channels: { [name]: { text: () => 'Version 2 is live' } } } }),
      store: memoryStore(),
      channels: { [name]: channelAt(origin) },
      recipients: { find: async (id) => ({ id, addresses: { [name]: address } }) },
    })
    const answer = await dispatch({ eventType: 'deployed', recipient: 'ops' })
    await worker.runDue()
    expect(received).toEqual(['Version 2 is live'])
    const kept = await dispatches.get(answer.ok ? answer.body.dispatchId : '')
    expect(kept?.status).toBe('sent')
    expect(JSON.stringify(kept)).not.toContain(SECRET)
  })

  it("The recipe gives the provider's message id if there is one", async () => {
    const { origin } = await fakeProvider(provider)
    const { messageId } = provider
    const sent = { outcome: 'sent', ...(messageId !== undefined && { providerMessageId: messageId }) }
    expect(await send(channelAt(origin), address, 'Hello')).toEqual(sent)
  })

  it('The recipe retries after the wait that the provider asks for', async () => {
    const { origin, state } = await fakeProvider(provider)
    state.answer = provider.limited
    const outcome = await send(channelAt(origin), address, 'Hello')
    expect(outcome).toMatchObject({ outcome: 'retry', code: 'http_429' })
    expect('retryAfterMs' in outcome && outcome.retryAfterMs).toBeCloseTo(provider.waitMs, 3)
  })

  it.each([
    [500, 'retry'],
    [503, 'retry'],
    [502, 'unknown'],
    [504, 'unknown'],
    [400, 'rejected'],
    [404, 'rejected'],
  ])('The recipe maps the status %i to %s', async (status, outcome) => {
    const { origin, state } = await fakeProvider(provider)
    state.answer = { status, headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }, body: CHATTER }
    expect(await send(channelAt(origin), address, 'Hello')).toEqual({ outcome, code: `http_${status}` })
  })

  it('The recipe follows no redirect', async () => {
    const target = await fakeProvider(provider)
    const { origin, state } = await fakeProvider(provider)
    state.answer = { status: 307, headers: { location: target.origin + provider.path } }
    expect(await send(channelAt(origin), address, 'Hello')).toEqual({ outcome: 'rejected', code: 'http_307' })
    expect(target.state.asked).toBe(0)
  })

  it('The recipe gives unknown if the connection is refused', async () => {
    const channel = channelAt(`http://127.0.0.1:${await deadPort()}`)
    expect(await send(channel, address, 'Hello')).toEqual({ outcome: 'unknown', code: 'connection_lost' })
  })

  it('The outcome for an invalid URL does not show the URL', async () => {
    const outcome = await send(channelAt('not a url '), address, 'Hello')
    expect(outcome).toEqual({ outcome: 'unknown', code: 'connection_lost' })
  })

  it('The recipe sends text that cannot forge a mention or a link', async () => {
    const { origin, received } = await fakeProvider(provider)
    await send(channelAt(origin), address, '<!channel> & <https://evil.example|bank> [a](b) &lt;')
    const plain = '<!channel> & <https://evil.example|bank> [a](b) &lt;'
    const escaped = '&lt;!channel&gt; &amp; &lt;https://evil.example|bank&gt; [a](b) &amp;lt;'
    expect(received).toEqual([name === 'slack' ? escaped : plain])
  })

  it('The recipe requires a text', () => {
    expect(channelAt('http://127.0.0.1').checkFields?.(['subject'])).toBe('needs "text"')
  })
})

describe.each(RECIPES.filter(({ name }) => name !== 'telegram'))('the rooms of $name', ({ channelAt }) => {
  it.each(['nowhere', '__proto__', 'constructor'])('The recipe rejects the unknown room %s', async (to) => {
    expect(await send(channelAt('http://127.0.0.1'), to, 'Hello')).toEqual({
      outcome: 'rejected',
      code: 'room_unknown',
    })
  })
})

import { describe, expect, it } from 'vitest'
import { type ClientOptions, createClient, isClientError } from '../../../src/client/index.ts'
import { deadPort, httpPeer } from '../../channels/peers.ts'
import { type Canaries, createCanaries } from './canaries.ts'
import { collecting } from './collecting.ts'

/** Options of a client whose calls fail. */
type Server = (canaries: Canaries) => Promise<Pick<ClientOptions, 'baseUrl'> & Partial<ClientOptions>>

/** A server that answers every request with this status and body. */
function answering(status: number, body: (sent: string) => string): Server {
  return async () => {
    const port = await httpPeer(async (request, response) => {
      const { authorization = '' } = request.headers
      response.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' }).end(body(authorization))
    })
    return { baseUrl: `http://127.0.0.1:${port}` }
  }
}

const SERVERS: Readonly<Record<string, Server>> = {
  'a dead port': async () => ({ baseUrl: `http://127.0.0.1:${await deadPort()}` }),
  'an invalid base URL': async () => ({ baseUrl: 'http://[' }),
  'a page that echoes the request': answering(200, (sent) => `<html>${sent}</html>`),
  'another API': answering(500, (sent) => JSON.stringify({ error: sent, message: sent })),
  'a refusal': answering(403, () =>
    JSON.stringify({ type: 'urn:sallyport:problem:insufficient_scope', code: 'insufficient_scope', detail: 'no' }),
  ),
  'a token that no header can carry': async (canaries) => ({
    baseUrl: 'http://127.0.0.1:9',
    token: `${canaries.word('application secret')}\n`,
  }),
  'a fetch that quotes its request': async () => ({
    baseUrl: 'http://127.0.0.1:9',
    fetch: async (_, { headers }) => {
      throw new TypeError(`fetch failed: ${headers.authorization}`)
    },
  }),
}

describe('an error of a client', () => {
  it.each(Object.entries(SERVERS))('A client error holds no token and no sent data: %s', async (_, server) => {
    const canaries = createCanaries()
    const { keep } = collecting(canaries)
    const options = await server(canaries)
    const client = createClient({ token: canaries.word('application secret'), retries: 0, ...options })
    const recipient = canaries.word('address in the directory')
    const calls = [
      () => client.dispatch({ eventType: 'e', recipient, eventData: { note: canaries.word('content') } }),
      () => client.recordRun({ sessionId: 's', run: { runId: 'r', tags: [canaries.word('content')] } }),
      () => client.recordRuns([{ sessionId: 's', run: { runId: 'r', metadata: { a: canaries.word('content') } } }]),
    ]
    for (const call of calls) {
      const thrown: unknown = await call().catch((error: unknown) => error)
      expect(isClientError(thrown)).toBe(true)
      keep('look', [thrown, client])
      keep('start', thrown)
    }
  })
})

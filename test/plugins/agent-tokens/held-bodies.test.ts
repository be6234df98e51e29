import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { decodeJwt } from 'jose'
import { afterEach, describe, expect, it } from 'vitest'
import { toNode } from '../../../src/adapters/node.ts'
import { generateAppSecret } from '../../../src/auth/index.ts'
import { type HostGiven, type TokenHost, tokenHost } from './exchanging.ts'

const { secret } = await generateAppSecret({ env: 'test' })
const closings: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closings.splice(0)) await close()
})

/** A host behind a real socket, and a post whose body is complete only after `meanwhile`. */
async function holding(given: HostGiven = {}) {
  let admitted = (): void => {}
  const reached = new Promise<void>((resolve) => {
    admitted = resolve
  })
  // Called after authentication and before the body is read.
  const rateLimiter = {
    async consume() {
      admitted()
      return undefined
    },
  }
  const host = tokenHost(secret, { ...given, options: { rateLimiter, ...given.options } })
  const server = createServer(toNode(host.sallyport)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closings.push(async () => {
    server.close()
    await once(server, 'close')
  })
  const body = JSON.stringify({ sessionId: 's1', run: { runId: 'held' } })

  async function post(token: string, meanwhile: (host: TokenHost) => Promise<void> | void): Promise<string> {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    const head = [
      'POST /api/agents/session/run HTTP/1.1',
      'host: a',
      'connection: close',
      'content-type: application/json',
      `content-length: ${body.length}`,
      `authorization: Bearer ${token}`,
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 5)}`)
    await reached
    await meanwhile(host)
    socket.write(body.slice(5))
    await once(socket, 'close')
    const answer = Buffer.concat(chunks).toString()
    return `${answer.slice(9, 12)} ${/"code":"(\w+)"/.exec(answer)?.[1] ?? ''}`.trim()
  }
  return { ...host, post }
}

const REVOKED = '401 invalid_token'

describe('a request whose body is held back', () => {
  it('A token that stays valid is accepted, also after nine seconds', async () => {
    const { issue, post } = await holding()
    expect(await post(await issue(), ({ clock }) => clock.advance(9_000))).toBe('201')
  })

  it.each([0, 500, 900, 5_000])(
    'A token that is revoked while its body is awaited is refused after %d ms, and records nothing',
    async (ms) => {
      for (const of of ['jti', 'sessionId', 'userId'] as const) {
        const { issue, post, sallyport } = await holding()
        const token = await issue({}, { userId: 'ada' })
        const values = { jti: String(decodeJwt(token).jti), sessionId: 's1', userId: 'ada' }
        const answer = await post(token, async ({ clock }) => {
          await sallyport.tokens.revoke({ [of]: values[of] } as { jti: string })
          clock.advance(ms)
        })
        expect(answer).toBe(REVOKED)
        expect(await sallyport.runs.get({ sessionId: 's1', runId: 'held' })).toBeUndefined()
        const { items } = await sallyport.tokens.uses()
        expect(items).toMatchObject([{ operation: 'session_run', outcome: 'refused', code: 'invalid_token', times: 1 }])
      }
    },
  )

  it('A token that expires while its body is awaited is refused, after the tolerance for clocks', async () => {
    for (const [seconds, answer] of [
      [5, '201'],
      [7, REVOKED],
    ] as const) {
      const { issue, post } = await holding()
      const token = await issue({}, { expiresInSeconds: 1 })
      expect(await post(token, ({ clock }) => clock.advance(seconds * 1_000))).toBe(answer)
    }
  })

  it('isRevoked is asked again when the body is awaited for a second', async () => {
    let isRevoked = false
    const { issue, post } = await holding({ tokens: { isRevoked: () => isRevoked } })
    const answer = await post(await issue(), ({ clock }) => {
      isRevoked = true
      clock.advance(1_000)
    })
    expect(answer).toBe(REVOKED)
  })
})

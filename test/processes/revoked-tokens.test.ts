import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import { afterAll, describe, expect, it } from 'vitest'
import { issueSessionToken } from '../../src/auth/issue-session-token.ts'
import { AUDIENCE, KEY, PATHS } from '../core/tokens/exchanging.ts'
import { postgresServer } from '../support/postgres-server.ts'
import { type Program, startNode } from '../support/program.ts'

const HOST = fileURLToPath(new URL('token-host.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Time in which a revocation takes effect in every process. */
const PROMISE_MS = 1_000
const OBSERVED_MS = 1_500

interface Place {
  readonly url: string
  remove(): Promise<void>
}

const PLACES: Readonly<Record<string, () => Promise<Place>>> = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-tokens-'))
    return { url: join(folder, 'test.db'), remove: () => rm(folder, { recursive: true, force: true }) }
  },
  async PostgreSQL() {
    const server = await postgresServer()
    return { url: server.url, remove: () => server.remove() }
  },
}

describe.each(Object.keys(PLACES))('two processes on %s', (kind) => {
  const programs: Program[] = []
  let place: Place | undefined
  afterAll(async () => {
    for (const program of programs) program.signal('SIGKILL')
    await Promise.all(programs.map(({ ended }) => ended))
    await place?.remove()
  })

  async function start(url: string): Promise<string> {
    const program = startNode(['--import', 'tsx', HOST, url], ROOT)
    programs.push(program)
    return `http://127.0.0.1:${(await program.line('port ')).slice(5)}`
  }

  /** A run of each user: a run has one agent's user. */
  const userOf = (token: string): string => String(decodeJwt(token).sub)

  const post = async (url: string, token: string, body: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  it(`A revoked token and its descendants are refused within a second in two processes on ${kind}`, async () => {
    place = await PLACES[kind]?.()
    const one = await start(place?.url ?? '')
    const two = await start(place?.url ?? '')
    const issue = (userId: string) =>
      issueSessionToken({ sessionId: 's1', userId, key: KEY, audience: AUDIENCE, expiresInSeconds: 600 })
    const exchange = async (token: string): Promise<string> => {
      const answer = await post(two + PATHS.exchange, token, { grants: {} })
      return ((await answer.json()) as { token: string }).token
    }
    for (const by of ['jti', 'userId'] as const) {
      const root = await issue(by)
      const child = await exchange(root)
      const tokens = [root, child, await exchange(child)]
      const other = await issue('other')
      /** Accepted requests: how long after the revocation they began. */
      const accepted: number[] = []
      let revokedAt = Number.POSITIVE_INFINITY
      const ask = async (url: string, token: string): Promise<number> => {
        const began = Date.now()
        const { status } = await post(url + PATHS.run, token, { sessionId: 's1', run: { runId: userOf(token) } })
        if (status < 300) accepted.push(began - revokedAt)
        return status
      }
      const askAll = () => Promise.all([one, two].flatMap((url) => tokens.map((token) => ask(url, token))))
      // Both processes know the list of revocations before the next one.
      for (const status of await askAll()) expect(status).toBeLessThan(300)
      await post(`${one}/revoke`, '', by === 'jti' ? { jti: decodeJwt(root).jti } : { userId: by })
      revokedAt = Date.now()
      let last: readonly number[] = []
      while (Date.now() - revokedAt < OBSERVED_MS) last = await askAll()
      expect(last).toEqual(Array(6).fill(401))
      expect(Math.max(...accepted)).toBeLessThan(PROMISE_MS)
      expect(await ask(two, other)).toBeLessThan(300)
      expect(await ask(two, await issue(by))).toBeLessThan(300)
    }
  }, 300_000)
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeJwt } from 'jose'
import { afterAll, describe, expect, it } from 'vitest'
import { issueSessionToken } from '../../../src/auth/issue-session-token.ts'
import { openPostgresql } from '../../storage/databases.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { type Program, startNode } from '../../support/program.ts'
import { AUDIENCE, KEY, PATHS } from './exchanging.ts'

const HOST = fileURLToPath(new URL('token-host.ts', import.meta.url))
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))

/** Time in which a revocation takes effect in every process. */
const PROMISE_MS = 1_000

/** Times between the requests after a revocation: none comes for a second, or one comes every tenth of it. */
const RHYTHMS = { jti: [PROMISE_MS], userId: Array<number>(10).fill(PROMISE_MS / 10) } as const

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
    const { url, close } = await openPostgresql()
    return { url, remove: close }
  },
}

describe.each(Object.keys(PLACES))('two processes on %s', (kind) => {
  const programs: Program[] = []
  const clock = fakeClock()
  let place: Place | undefined
  afterAll(async () => {
    for (const program of programs) program.signal('SIGKILL')
    await Promise.all(programs.map(({ ended }) => ended))
    await place?.remove()
  })

  async function start(url: string): Promise<string> {
    const program = startNode(['--import', 'tsx', HOST, url, `${clock.now()}`], ROOT)
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
      issueSessionToken({ sessionId: 's1', userId, key: KEY, audience: AUDIENCE, expiresInSeconds: 600, clock })
    const exchange = async (token: string): Promise<string> => {
      const answer = await post(two + PATHS.exchange, token, { grants: {} })
      return ((await answer.json()) as { token: string }).token
    }
    const ask = async (url: string, token: string): Promise<number> =>
      (await post(url + PATHS.run, token, { sessionId: 's1', run: { runId: userOf(token) } })).status
    const advance = async (ms: number): Promise<void> => {
      clock.advance(ms)
      for (const url of [one, two]) await post(`${url}/advance`, '', { ms })
    }
    for (const by of ['jti', 'userId'] as const) {
      const root = await issue(by)
      const child = await exchange(root)
      const tokens = [root, child, await exchange(child)]
      const other = await issue('other')
      const askAll = () => Promise.all([one, two].flatMap((url) => tokens.map((token) => ask(url, token))))
      // Both processes know the list of revocations before the next one.
      for (const status of await askAll()) expect(status).toBeLessThan(300)
      await post(`${one}/revoke`, '', by === 'jti' ? { jti: decodeJwt(root).jti } : { userId: by })
      let last: readonly number[] = []
      for (const ms of RHYTHMS[by]) {
        await advance(ms)
        last = await askAll()
      }
      expect(last).toEqual(Array(6).fill(401))
      expect(await ask(two, other)).toBeLessThan(300)
      expect(await ask(two, await issue(by))).toBeLessThan(300)
    }
  }, 300_000)
})

import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { anyOf, appSecrets, generateAppSecret, issueSessionToken, sessionTokens } from '../../../src/auth/index.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { handleDispatch } from '../../../src/core/dispatch/handle-dispatch.ts'
import type { AuthVerifier } from '../../../src/ports/auth-verifier.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { countingIds, recordingLogger, testDeps } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'

const key = { kid: 'k1', key: new Uint8Array(32).fill(7) }

async function host() {
  const [clock, logger] = [fakeClock(), recordingLogger()]
  const auth = anyOf(
    appSecrets([(await generateAppSecret()).secret]),
    sessionTokens({ keys: [key], audience: 'a', clock }),
  )
  const sallyport = createSallyport({ auth, store: memoryStore({ clock }), clock, logger, ids: countingIds() })
  const handler = toFetch(sallyport)
  async function post(token: string) {
    const authorization = `Bearer ${token}`
    const body = JSON.stringify({ sessionId: 's', run: { runId: 'r' } })
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await handler(new Request('http://host/api/agents/session/run', { method: 'POST', headers, body }))
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() }
  }
  return { ...{ clock, logger, sallyport, post }, lines: () => logger.lines.splice(0) }
}

const issue = (more: Partial<Parameters<typeof issueSessionToken>[0]> & { readonly clock: { now(): number } }) =>
  issueSessionToken({ sessionId: 's', key, audience: 'a', ...more })

/** The remedy that the log has for each of these reasons. */
const DETAILS = {
  expired: expect.stringMatching(/^It has ended: issue one token for each session/),
  audience: "The token's aud is not the audience of sessionTokens(): issue it for that audience.",
  unknown_kid: expect.stringMatching(/^No key of sessionTokens\(\) has the kid/),
  signature: expect.stringMatching(/^Another key than that of its kid signed the token/),
  unknown_secret: expect.stringMatching(/^No secret in appSecrets\(\) has this hash/),
  malformed: expect.stringMatching(/^It is neither an application secret nor a signed JWT/),
}

describe('auth.refused', () => {
  it('A refused token is logged with its reason and the id of the answer, and every answer is the same', async () => {
    const { clock, post, lines } = await host()
    const expired = await issue({ clock, expiresInSeconds: 1 })
    clock.advance(60_000)
    const tokens = {
      expired,
      audience: await issue({ clock, audience: 'b' }),
      unknown_kid: await issue({ clock, key: { ...key, kid: 'k2' } }),
      signature: await issue({ clock, key: { ...key, key: new Uint8Array(32).fill(8) } }),
      unknown_secret: (await generateAppSecret()).secret,
      malformed: 'x',
    }
    for (const [at, [reason, token]] of Object.entries(tokens).entries()) {
      const requestId = `req_${at + 1}`
      const { status, headers, body } = await post(token)
      expect([status, headers, body]).toEqual([
        401,
        {
          'cache-control': 'no-store',
          connection: 'close',
          'content-type': 'application/problem+json',
          'content-length': expect.any(String),
          'www-authenticate': 'Bearer realm="sallyport", error="invalid_token"',
        },
        `{"type":"urn:sallyport:problem:invalid_token","title":"The bearer token is not valid","status":401,"detail":"The token is malformed, unknown, expired or revoked.","code":"invalid_token","requestId":"${requestId}"}`,
      ])
      const detail = DETAILS[reason as keyof typeof tokens]
      expect(lines()).toEqual([{ level: 'warn', event: 'auth.refused', fields: { requestId, reason, detail } }])
    }
  })

  it('A token that `tokens.revoke` ended is refused as revoked', async () => {
    const { clock, post, lines, sallyport } = await host()
    const token = await issue({ clock })
    expect((await post(token)).status).toBe(201)
    await sallyport.tokens.revoke({ sessionId: 's' })
    expect((await post(token)).status).toBe(401)
    expect(lines()).toMatchObject([
      { event: 'auth.refused', fields: { reason: 'revoked', detail: expect.stringMatching(/^tokens\.revoke\(\)/) } },
    ])
  })

  it('A reason is logged once a second, with the number of lines that were omitted', async () => {
    const { clock, post, lines } = await host()
    for (let at = 0; at < 5; at++) await post('x')
    clock.advance(999)
    await post('x')
    expect(lines()).toHaveLength(1)
    await post(await issue({ clock, audience: 'b' }))
    clock.advance(1)
    await post('x')
    await post('x')
    expect(lines().map(({ fields: { detail, ...fields } }) => fields)).toEqual([
      { requestId: expect.any(String), reason: 'audience' },
      { requestId: expect.any(String), reason: 'malformed', omitted: 5 },
    ])
    clock.advance(1_000)
    await post('x')
    expect(lines()).toMatchObject([{ fields: { reason: 'malformed', omitted: 1 } }])
  })

  it('A request without a token is not logged: its answer says what is missing', async () => {
    const { logger, sallyport } = await host()
    const answer = await toFetch(sallyport)(new Request('http://host/api/agents/session/run', { method: 'POST' }))
    expect(answer.status).toBe(401)
    expect(logger.lines).toEqual([])
  })
})

describe("the reason of a host's verifier", () => {
  const refused = async (...reasons: readonly unknown[]) => {
    let at = 0
    const auth = { verify: () => ({ refused: 'invalid_token', reason: reasons[at++] }) } as unknown as AuthVerifier
    const deps = testDeps(undefined, { auth })
    for (const _ of reasons) await handleDispatch({ headers: { authorization: 'Bearer t' }, body: {} }, deps)
    return deps.logger.lines.map(({ fields }) => fields.reason)
  }

  it.each([
    ['without texts', undefined, {}],
    ['with a text for it', { tenant_suspended: 'Its invoice is overdue.' }, { detail: 'Its invoice is overdue.' }],
    ['with no text for it', { other: 'x' }, {}],
    ['with what is no text', { tenant_suspended: 7 }, {}],
    ['with a list', ['tenant_suspended'], {}],
  ])('A reason of its own is logged %s', async (_, reasons, detail) => {
    const verify: AuthVerifier['verify'] = () => ({ refused: 'invalid_token', reason: 'tenant_suspended' })
    const deps = testDeps(undefined, { auth: { verify, reasons: reasons as AuthVerifier['reasons'] } })
    await handleDispatch({ headers: { authorization: 'Bearer t' }, body: {} }, deps)
    const fields = { requestId: expect.any(String), reason: 'tenant_suspended', ...detail }
    expect(deps.logger.lines).toEqual([{ level: 'warn', event: 'auth.refused', fields }])
  })

  it('A name of Object.prototype has no text', async () => {
    const auth: AuthVerifier = { verify: () => ({ refused: 'invalid_token', reason: 'constructor' }), reasons: {} }
    const deps = testDeps(undefined, { auth })
    await handleDispatch({ headers: { authorization: 'Bearer t' }, body: {} }, deps)
    expect(deps.logger.lines.map(({ fields }) => fields.detail)).toEqual([undefined])
  })

  it('A short name is logged', async () => {
    expect(await refused('tenant_suspended', `a${'1'.repeat(31)}`)).toEqual(['tenant_suspended', `a${'1'.repeat(31)}`])
  })

  it.each([
    [''],
    ['Token eyJh'],
    ['ada@example.com'],
    ['a'.repeat(33)],
    ['1a'],
    ['a\n'],
    [7],
    [null],
    [{ toString: () => 'a' }],
  ])('Any other reason is dropped: %j', async (reason) => expect(await refused(reason)).toEqual([undefined]))

  it('Reasons beyond the fiftieth share one line a second', async () => {
    const reasons = Array.from({ length: 60 }, (_, at) => `r${at}`)
    expect(await refused(...reasons)).toEqual([...reasons.slice(0, 50), undefined])
  })
})

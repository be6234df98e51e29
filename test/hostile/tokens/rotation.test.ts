import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import {
  type AuthVerifier,
  appSecrets,
  generateAppSecret,
  issueSessionToken,
  type SessionTokenKey,
  type SessionTokensOptions,
  sessionTokens,
} from '../../../src/auth/index.ts'
import { watchStrayRejections } from '../../support/stray-rejections.ts'
import { Fleet } from './fleet.ts'

const TAKEN = ['taken']
const REFUSED = ['401 invalid_token']
const MINUTE_MS = 60_000

let check: () => Promise<void>
beforeAll(() => {
  check = watchStrayRejections()
})
afterAll(() => check())

let fleet: Fleet
afterEach(() => fleet.close())

describe('application secrets', () => {
  const pair = async () => [await generateAppSecret(), await generateAppSecret()] as const

  it('are replaced with no request refused of a client that moves over in time', async () => {
    const [old, next] = await pair()
    fleet = await Fleet.of(2, appSecrets([old.secret]))
    const web = fleet.client('web', old.secret)
    const cron = fleet.client('cron', old.secret)
    fleet.client('forgotten', old.secret)
    await fleet.goOn()

    await fleet.deploy(appSecrets([next.secret, old.secret]))
    web.token = next.secret
    await fleet.goOn()
    cron.token = next.secret
    await fleet.goOn()

    const notAfter = fleet.clock.now() + MINUTE_MS
    const ending = [{ sha256: next.sha256 }, { sha256: old.sha256, notAfter }]
    await fleet.deploy(appSecrets(ending, { clock: fleet.clock }))
    fleet.clock.advance(MINUTE_MS)
    expect(await fleet.goOn()).toEqual({ web: TAKEN, cron: TAKEN, forgotten: TAKEN })

    fleet.clock.advance(1)
    expect(await fleet.goOn()).toEqual({ web: TAKEN, cron: TAKEN, forgotten: REFUSED })
    await fleet.deploy(appSecrets([next.secret]))
    expect(await fleet.goOn()).toEqual({ web: TAKEN, cron: TAKEN, forgotten: REFUSED })
    expect([fleet.count('web', 'taken') > 100, fleet.count('cron', 'taken') > 100]).toEqual([true, true])
    for (const client of ['web', 'cron']) expect(fleet.count(client, '401 invalid_token')).toBe(0)
  })

  it('leave a gap when a client moves before every host knows the new one', async () => {
    const [old, next] = await pair()
    fleet = await Fleet.of(2, appSecrets([old.secret]))
    const web = fleet.client('web', old.secret)
    await fleet.deployOn(0, appSecrets([next.secret, old.secret]))
    web.token = next.secret
    expect(await fleet.goOn()).toEqual({ web: [...REFUSED, ...TAKEN] })
  })

  it('are refused at once, once they have leaked, on every host that was told', async () => {
    const [old, next] = await pair()
    fleet = await Fleet.of(2, appSecrets([next.secret, old.secret]))
    fleet.client('web', next.secret)
    fleet.client('thief', old.secret)
    expect(await fleet.goOn()).toEqual({ web: TAKEN, thief: TAKEN })
    await fleet.deployOn(0, appSecrets([next.secret]))
    expect(await fleet.goOn()).toEqual({ web: TAKEN, thief: [...REFUSED, ...TAKEN] })
    await fleet.deployOn(1, appSecrets([next.secret]))
    expect(await fleet.goOn()).toEqual({ web: TAKEN, thief: REFUSED })
  })
})

describe('session token keys', () => {
  const key = (kid: string): SessionTokenKey => ({ kid, key: crypto.getRandomValues(new Uint8Array(32)) })
  const accepting = (keys: readonly SessionTokenKey[], more: Partial<SessionTokensOptions> = {}): AuthVerifier =>
    sessionTokens({ keys, audience: 'api', clock: { now: () => fleet.clock.now() }, ...more })
  const sign = (signing: SessionTokenKey, expiresInSeconds = 900): Promise<string> =>
    issueSessionToken({ sessionId: 's1', audience: 'api', key: signing, expiresInSeconds, clock: fleet.clock })

  it('are replaced with no request refused of an agent that renews its token in time', async () => {
    const [old, next] = [key('2026-10'), key('2026-11')]
    fleet = await Fleet.of(2, accepting([old]))
    const agent = fleet.client('agent', await sign(old))
    await fleet.goOn()

    await fleet.deploy(accepting([next, old]))
    const newcomer = fleet.client('newcomer', await sign(next))
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, newcomer: TAKEN })

    const notAfter = fleet.clock.now() + 15 * MINUTE_MS
    await fleet.deploy(accepting([next, { ...old, notAfter }]))
    fleet.clock.advance(14 * MINUTE_MS)
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, newcomer: TAKEN })
    agent.token = await sign(next)
    newcomer.token = await sign(next)
    // By a thief, or an issuer that nobody told: its tokens end with the key, whatever they say.
    fleet.client('late', await sign(old))
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, newcomer: TAKEN, late: TAKEN })

    fleet.clock.advance(MINUTE_MS + 1)
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, newcomer: TAKEN, late: REFUSED })
    await fleet.deploy(accepting([next]))
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, newcomer: TAKEN, late: REFUSED })
    for (const client of ['agent', 'newcomer']) expect(fleet.count(client, '401 invalid_token')).toBe(0)
  })

  it('leave a gap when tokens are signed with one before every host knows it', async () => {
    const [old, next] = [key('2026-10'), key('2026-11')]
    fleet = await Fleet.of(2, accepting([old]))
    await fleet.deployOn(0, accepting([next, old]))
    fleet.client('agent', await sign(next))
    expect(await fleet.goOn()).toEqual({ agent: [...REFUSED, ...TAKEN] })
  })

  it('stay, when a single token is revoked: from the next request on', async () => {
    const signing = key('k1')
    const revoked = new Set<string>()
    fleet = await Fleet.of(2, accepting([signing], { isRevoked: ({ jti }) => revoked.has(jti) }))
    const leaked = await sign(signing)
    fleet.client('agent', await sign(signing))
    fleet.client('thief', leaked)
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, thief: TAKEN })
    revoked.add(JSON.parse(Buffer.from(leaked.split('.')[1] ?? '', 'base64url').toString()).jti)
    expect(await fleet.goOn()).toEqual({ agent: TAKEN, thief: REFUSED })
  })
})

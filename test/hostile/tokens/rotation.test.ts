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

const ACCEPTED = ['accepted']
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

  it('Rotating an application secret refuses no request of a client that switches in time', async () => {
    const [old, next] = await pair()
    fleet = await Fleet.of(2, appSecrets([old.secret]))
    const web = fleet.client('web', old.secret)
    const cron = fleet.client('cron', old.secret)
    fleet.client('forgotten', old.secret)
    await fleet.runTurn()

    await fleet.deploy(appSecrets([next.secret, old.secret]))
    web.token = next.secret
    await fleet.runTurn()
    cron.token = next.secret
    await fleet.runTurn()

    const notAfter = fleet.clock.now() + MINUTE_MS
    const ending = [{ sha256: next.sha256 }, { sha256: old.sha256, notAfter }]
    await fleet.deploy(appSecrets(ending, { clock: fleet.clock }))
    fleet.clock.advance(MINUTE_MS)
    expect(await fleet.runTurn()).toEqual({ web: ACCEPTED, cron: ACCEPTED, forgotten: ACCEPTED })

    fleet.clock.advance(1)
    expect(await fleet.runTurn()).toEqual({ web: ACCEPTED, cron: ACCEPTED, forgotten: REFUSED })
    await fleet.deploy(appSecrets([next.secret]))
    expect(await fleet.runTurn()).toEqual({ web: ACCEPTED, cron: ACCEPTED, forgotten: REFUSED })
    expect([fleet.count('web', 'accepted') > 100, fleet.count('cron', 'accepted') > 100]).toEqual([true, true])
    for (const client of ['web', 'cron']) expect(fleet.count(client, '401 invalid_token')).toBe(0)
  })

  it('A client that switches before all hosts know the new secret gets refusals', async () => {
    const [old, next] = await pair()
    fleet = await Fleet.of(2, appSecrets([old.secret]))
    const web = fleet.client('web', old.secret)
    await fleet.deployOn(0, appSecrets([next.secret, old.secret]))
    web.token = next.secret
    expect(await fleet.runTurn()).toEqual({ web: [...REFUSED, ...ACCEPTED] })
  })

  it('A leaked secret is refused at once on every host without it', async () => {
    const [old, next] = await pair()
    fleet = await Fleet.of(2, appSecrets([next.secret, old.secret]))
    fleet.client('web', next.secret)
    fleet.client('thief', old.secret)
    expect(await fleet.runTurn()).toEqual({ web: ACCEPTED, thief: ACCEPTED })
    await fleet.deployOn(0, appSecrets([next.secret]))
    expect(await fleet.runTurn()).toEqual({ web: ACCEPTED, thief: [...REFUSED, ...ACCEPTED] })
    await fleet.deployOn(1, appSecrets([next.secret]))
    expect(await fleet.runTurn()).toEqual({ web: ACCEPTED, thief: REFUSED })
  })
})

describe('session token keys', () => {
  const key = (kid: string): SessionTokenKey => ({ kid, key: crypto.getRandomValues(new Uint8Array(32)) })
  const accepting = (keys: readonly SessionTokenKey[], more: Partial<SessionTokensOptions> = {}): AuthVerifier =>
    sessionTokens({ keys, audience: 'api', clock: { now: () => fleet.clock.now() }, ...more })
  const sign = (signing: SessionTokenKey, expiresInSeconds = 900): Promise<string> =>
    issueSessionToken({ sessionId: 's1', audience: 'api', key: signing, expiresInSeconds, clock: fleet.clock })

  it('Rotating a signing key refuses no request of an agent that renews its token in time', async () => {
    const [old, next] = [key('2026-10'), key('2026-11')]
    fleet = await Fleet.of(2, accepting([old]))
    const agent = fleet.client('agent', await sign(old))
    await fleet.runTurn()

    await fleet.deploy(accepting([next, old]))
    const newcomer = fleet.client('newcomer', await sign(next))
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, newcomer: ACCEPTED })

    const notAfter = fleet.clock.now() + 15 * MINUTE_MS
    await fleet.deploy(accepting([next, { ...old, notAfter }]))
    fleet.clock.advance(14 * MINUTE_MS)
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, newcomer: ACCEPTED })
    agent.token = await sign(next)
    newcomer.token = await sign(next)
    // Signed by a thief or by an outdated issuer: its tokens end with the key, whatever their `exp`.
    fleet.client('late', await sign(old))
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, newcomer: ACCEPTED, late: ACCEPTED })

    fleet.clock.advance(MINUTE_MS + 1)
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, newcomer: ACCEPTED, late: REFUSED })
    await fleet.deploy(accepting([next]))
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, newcomer: ACCEPTED, late: REFUSED })
    for (const client of ['agent', 'newcomer']) expect(fleet.count(client, '401 invalid_token')).toBe(0)
  })

  it('Tokens of a new key are refused by hosts that do not have the key yet', async () => {
    const [old, next] = [key('2026-10'), key('2026-11')]
    fleet = await Fleet.of(2, accepting([old]))
    await fleet.deployOn(0, accepting([next, old]))
    fleet.client('agent', await sign(next))
    expect(await fleet.runTurn()).toEqual({ agent: [...REFUSED, ...ACCEPTED] })
  })

  it('Revoking a token refuses its next request and leaves other tokens of the key valid', async () => {
    const signing = key('k1')
    const revoked = new Set<string>()
    fleet = await Fleet.of(2, accepting([signing], { isRevoked: ({ jti }) => revoked.has(jti) }))
    const leaked = await sign(signing)
    fleet.client('agent', await sign(signing))
    fleet.client('thief', leaked)
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, thief: ACCEPTED })
    revoked.add(JSON.parse(Buffer.from(leaked.split('.')[1] ?? '', 'base64url').toString()).jti)
    expect(await fleet.runTurn()).toEqual({ agent: ACCEPTED, thief: REFUSED })
  })
})

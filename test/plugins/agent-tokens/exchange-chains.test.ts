import { expect, it } from 'vitest'
import { issueSessionToken, sessionTokens } from '../../../src/auth/index.ts'
import { isRefused } from '../../../src/core/answers/result.ts'
import { authenticate } from '../../../src/core/authenticate.ts'
import { quotasOf } from '../../../src/core/dispatch/caller.ts'
import { type DispatchGrant, type Principal, runEventLimitsOf } from '../../../src/model/principal.ts'
import type { TokenExchange } from '../../../src/model/token-exchange.ts'
import { exchangeToken } from '../../../src/plugins/agent-tokens/exchange-token.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs } from '../../support/properties.ts'
import { AUDIENCE, KEY } from './exchanging.ts'

/** Number of random chains. `SALLYPORT_CHAINS=100000` is the full proof. */
const CHAINS = Number(process.env.SALLYPORT_CHAINS ?? runs(300))

const names = fc.subarray(['a', 'b', 'c'])
const dispatch: fc.Arbitrary<DispatchGrant> = fc.record(
  { events: names, channels: names, recipients: names, maxDispatches: fc.integer({ min: 1, max: 4 }) },
  { requiredKeys: ['events', 'channels', 'recipients'] },
)
const grants = fc.record({ dispatch, runEvents: fc.integer({ min: 0, max: 30 }) }, { requiredKeys: [] })
const step = fc.record({
  asked: fc.record(
    { grants, expiresInMs: fc.integer({ min: 1_000, max: 2_000_000 }), runId: fc.constantFrom('r1', 'r2') },
    { requiredKeys: ['grants'] },
  ),
  /** Index of the token to exchange, from the last. */
  from: fc.nat(2),
  passesMs: fc.nat(200_000),
})
const chain = fc.record({ root: grants, steps: fc.array(step, { minLength: 1, maxLength: 12 }) })

const exchange = (runEvents: number) => ({ asked: { grants: { runEvents } }, from: 0, passesMs: 0 })
/** Three exchanges that succeed, and three that are denied. */
const KNOWN = { root: { runEvents: 9 }, steps: [9, 6, 3, 4, 9, 30].map(exchange) }

interface Token {
  readonly token: string
  readonly principal: Principal
}

/** Written from the rules alone: what a principal may do, as sets and numbers. */
function reachOf({ dispatch: granted, runEvents = 20, runId, expiresAt = Number.NaN, parents = [] }: Principal) {
  const limits = parents.map(({ maxDispatches = Number.POSITIVE_INFINITY }) => maxDispatches)
  return {
    triples: (granted?.events ?? []).flatMap((event) =>
      (granted?.channels ?? []).flatMap((channel) =>
        (granted?.recipients ?? []).map((recipient) => `${event} ${channel} ${recipient}`),
      ),
    ),
    most: granted ? Math.min(granted.maxDispatches ?? Number.POSITIVE_INFINITY, ...limits) : 0,
    runEvents,
    runId,
    expiresAt,
  }
}

it(`Over ${CHAINS} random chains an exchanged token is never wider and never longer, and is counted for all its parents`, async () => {
  let exchanged = 0
  let denied = 0
  await fc.assert(
    fc.asyncProperty(chain, async ({ root, steps }) => {
      const clock = fakeClock()
      const auth = sessionTokens({ keys: [KEY], audience: AUDIENCE, clock, clockToleranceSeconds: 0 })
      const { exchange } = auth
      if (!exchange) throw new Error('the verifier exchanges no tokens')
      const headersOf = (token: string) => ({ authorization: `Bearer ${token}` })
      const tokenOf = async (token: string): Promise<Token | undefined> => {
        const principal = await authenticate(headersOf(token), 'session_run', auth, clock)
        return isRefused(principal) ? undefined : { token, principal }
      }
      const given = { sessionId: 's1', userId: 'ada', grants: root, expiresInSeconds: 1_200, key: KEY, clock }
      const first = await tokenOf(await issueSessionToken({ ...given, audience: AUDIENCE }))
      if (!first) throw new Error('the token of the host is refused')
      const tokens = [first]
      for (const { asked, from, passesMs } of steps) {
        clock.advance(passesMs)
        const parent = tokens.at(-1 - (from % tokens.length)) as Token
        const request = { headers: headersOf(parent.token), body: asked }
        const answer = await exchangeToken(parent.principal, request, { exchange, clock })
        if (isRefused(answer)) {
          denied++
          expect(isAllowed(parent.principal, asked, clock.now())).toBe(false)
          continue
        }
        exchanged++
        expect(isAllowed(parent.principal, asked, clock.now())).toBe(true)
        const child = answer.ok ? await tokenOf(answer.body.token) : undefined
        if (!child) throw new Error('an exchanged token is refused')
        expectWithin(parent.principal, child.principal)
        tokens.push(child)
      }
    }),
    { numRuns: CHAINS, examples: [[KNOWN]] },
  )
  expect(Math.min(exchanged, denied)).toBeGreaterThan(CHAINS / 10)
}, 3_600_000)

function expectWithin(parent: Principal, child: Principal): void {
  const [outer, inner] = [reachOf(parent), reachOf(child)]
  expect(outer.triples).toEqual(expect.arrayContaining(inner.triples))
  expect(inner.most).toBeLessThanOrEqual(outer.triples.length > 0 || parent.dispatch ? outer.most : 0)
  expect(inner.runEvents).toBeLessThanOrEqual(outer.runEvents)
  expect(inner.expiresAt).toBeLessThanOrEqual(outer.expiresAt)
  if (outer.runId !== undefined) expect(inner.runId).toBe(outer.runId)
  expect([child.tenant, child.sessionId, child.userId]).toEqual([parent.tenant, parent.sessionId, parent.userId])
  expect(child.issuedAt).toBe(parent.issuedAt)
  expect(child.parents?.map(({ id }) => id)).toEqual([parent.id, ...(parent.parents ?? []).map(({ id }) => id)])
  expect(child.parents?.length).toBeLessThanOrEqual(8)
  // Every limit of the parent also counts dispatches of the child, under the same key.
  const keys = (of: Principal): string[] => quotasOf(of).quotas?.map(({ key, max }) => `${key} ${max}`) ?? []
  if (child.dispatch) {
    expect(keys(child)).toEqual(expect.arrayContaining(keys(parent)))
    const { maxDispatches = Number.POSITIVE_INFINITY } = child.dispatch
    expect(maxDispatches).toBeLessThanOrEqual(parent.dispatch?.maxDispatches ?? Number.POSITIVE_INFINITY)
  }
  // The same holds for run events.
  const [own, ...above] = runEventLimitsOf(child)
  expect(own).toEqual({ tokenId: child.id, max: inner.runEvents })
  expect(above).toEqual(runEventLimitsOf(parent))
  for (const { max } of above) expect(inner.runEvents).toBeLessThanOrEqual(max)
}

/** Written from the rules alone: whether an exchange must succeed. */
function isAllowed(parent: Principal, { grants: asked, runId }: TokenExchange, now: number): boolean {
  const { dispatch: granted, runEvents = 20, parents = [], expiresAt = 0 } = parent
  const lists = ['events', 'channels', 'recipients'] as const
  const wanted = asked.dispatch
  return (
    parents.length < 8 &&
    Math.floor(now / 1_000) < expiresAt / 1_000 &&
    (asked.runEvents ?? 0) <= runEvents &&
    (parent.runId === undefined || runId === undefined || runId === parent.runId) &&
    (!wanted ||
      (granted !== undefined &&
        lists.every((list) => wanted[list].every((name) => granted[list].includes(name))) &&
        (wanted.maxDispatches ?? 1) <= (granted.maxDispatches ?? Number.POSITIVE_INFINITY)))
  )
}

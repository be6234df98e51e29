import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DispatchGrant } from '../../../src/model/principal.ts'
import { allPages } from '../../core/runs/test-app.ts'
import { fc, runs } from '../../support/properties.ts'
import {
  app,
  CHANNELS,
  EVENTS,
  OTHER_SESSION,
  type OthersRecords,
  RECIPIENTS,
  SECRETS,
  SESSION,
  type TestApp,
} from './test-app.ts'

const DISPATCH = '/api/outbound/dispatch'
const RUN = '/api/agents/session/run'
const POSTS = runs(500)

const GRANT: DispatchGrant = {
  events: ['ticket.escalated'],
  channels: ['email'],
  recipients: ['user_ada'],
  maxDispatches: 3,
}

/** Posts within the grant. */
const GOOD = [{}, { sessionId: null }, { sessionId: SESSION }, { eventData: { text: 'Hello', more: 1 } }].map(
  (more) => ({
    eventType: 'ticket.escalated',
    recipient: 'user_ada',
    channel: 'email',
    eventData: { text: 'Hello' },
    ...more,
  }),
)

/** An agent under full control of an attacker, who knows every name, every id and the whole interface. */
describe('an agent under an attacker', () => {
  let shop: TestApp
  let agent: string
  let before: OthersRecords

  beforeEach(async () => {
    shop = await app()
    agent = await shop.tokenFor(SESSION, GRANT, 'user_ada')
    await shop.post(shop.secret, DISPATCH, event('invoice.paid', 'user_boss'), { 'idempotency-key': 'invoice-1' })
    const run = { runId: 'run-other', status: 'completed', userId: 'user_boss', counts: { inputTokens: 9 } }
    await shop.post(shop.secret, RUN, { sessionId: OTHER_SESSION, run })
    before = await shop.othersRecords()
  })

  afterEach(() => shop.close())

  function event(eventType: string, recipient: string, more: object = {}): object {
    return { eventType, recipient, eventData: { text: 'Hello' }, ...more }
  }

  /** Lists the dispatches of the agent's session. */
  async function dispatched() {
    const read = (page: object) => shop.sallyport.dispatches.list({ sessionId: SESSION, limit: 100, ...page })
    return (await allPages(read)).flat()
  }

  /** Expects only granted dispatches, at most as many as granted, and no other effect. */
  async function expectWithinGrant(most = 3): Promise<void> {
    const items = await dispatched()
    expect(items.length).toBeLessThanOrEqual(most)
    for (const { eventType, recipient, deliveries } of items) {
      expect([eventType, recipient]).toEqual(['ticket.escalated', 'user_ada'])
      expect(deliveries.map(({ channel }) => channel)).toEqual(['email'])
    }
    expect(await shop.othersRecords()).toEqual(before)
    await shop.sallyport.worker.runDue()
    const { email, sms, ops } = shop.channels
    const sent = email.sent.filter(({ eventType }) => eventType !== 'invoice.paid')
    expect(sent.map(({ to }) => to)).toEqual(items.map(() => 'ada-private@example.com'))
    expect([sms.sent, ops.sent]).toEqual([[], []])
  }

  it('An agent dispatches only what its grant lists, up to maxDispatches', async () => {
    const good = event('ticket.escalated', 'user_ada', { channel: 'email' })
    const statuses: number[] = []
    for (let at = 0; at < 5; at++) statuses.push((await shop.post(agent, DISPATCH, good)).status)
    expect(statuses).toEqual([202, 202, 202, 403, 403])
    expect(await dispatched()).toHaveLength(3)
    await expectWithinGrant()
  })

  it('A hundred concurrent posts, with and without keys, do not exceed maxDispatches', async () => {
    const good = event('ticket.escalated', 'user_ada', { channel: 'email' })
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        shop.post(agent, DISPATCH, good, at % 2 ? { 'idempotency-key': `k${at % 10}` } : {}),
      ),
    )
    expect(answers.every(({ status }) => status === 202 || status === 403)).toBe(true)
    expect(await dispatched()).toHaveLength(3)
    await expectWithinGrant()
  })

  it('No combination of names, sessions and disguises reaches beyond the grant', async () => {
    /** Mostly the first name, which is granted: a good request with one bad part is the best attack. */
    const name = (names: readonly string[]) =>
      fc.oneof(
        { weight: 8, arbitrary: fc.constant(names[0]) },
        fc.constantFrom(...names),
        fc.constantFrom(...names).chain(disguised),
        fc.jsonValue(),
      )
    const body = fc.record(
      {
        eventType: name(EVENTS),
        recipient: name(RECIPIENTS),
        channel: name(CHANNELS),
        sessionId: name([SESSION, OTHER_SESSION]),
        eventData: fc.oneof(fc.constant({ text: '{{ recipient.attributes.note }}' }), fc.jsonValue()),
        userId: fc.constant('user_boss'),
        tenant: fc.constant('other'),
        grants: fc.constant({ dispatch: { events: [...EVENTS] } }),
      },
      { requiredKeys: ['eventType', 'recipient'] },
    )
    const query = fc.constantFrom(
      '',
      '',
      '',
      '',
      '?dryRun=true',
      '?dryRun=false',
      '?dryrun=true',
      '?channel=sms',
      '?tenant=other',
    )
    const headers = fc.constantFrom<Record<string, string>[]>(
      {},
      { 'idempotency-key': 'invoice-1' },
      { 'x-tenant': 'other', 'x-forwarded-user': 'app' },
    )
    // So many that good combinations do not hide later ones.
    const patient = await shop.tokenFor(SESSION, { ...GRANT, maxDispatches: 1_000 }, 'user_ada')
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(body, query, headers, async (posted, search, sent) => {
        const { status, text } = await shop.post(patient, `${DISPATCH}${search}`, posted, sent)
        expect([202, 400, 403, 409, 422]).toContain(status)
        if (status === 202) {
          accepted++
          expect([posted.eventType, posted.recipient]).toEqual(['ticket.escalated', 'user_ada'])
          // A null is read as absent.
          expect([undefined, null, 'email']).toContain(posted.channel)
          expect([undefined, null, SESSION]).toContain(posted.sessionId)
          expect(['', '?dryRun=false']).toContain(search)
          const { eventType, deliveries } = JSON.parse(text)
          const channels = deliveries.map(({ channel }: { channel: string }) => channel)
          expect([eventType, channels]).toEqual(['ticket.escalated', ['email']])
        }
        for (const secret of SECRETS)
          expect(text.replaceAll(JSON.stringify(posted.recipient), '')).not.toContain(secret)
      }),
      { numRuns: POSTS, examples: GOOD.map((posted) => [posted, '', {}]) },
    )
    expect(accepted).toBeGreaterThanOrEqual(Math.max(GOOD.length, POSTS / 100))
    await expectWithinGrant(1_000)
  })

  it("An agent does not get the stored answer of an application's idempotency key", async () => {
    const mine = event('ticket.escalated', 'user_ada', { channel: 'email' })
    const answer = await shop.post(agent, DISPATCH, mine, { 'idempotency-key': 'invoice-1' })
    expect(answer.status).toBe(202)
    expect(JSON.parse(answer.text)).toMatchObject({ duplicate: false, eventType: 'ticket.escalated' })
    const again = await shop.post(shop.secret, DISPATCH, event('invoice.paid', 'user_boss'), {
      'idempotency-key': 'invoice-1',
    })
    expect(JSON.parse(again.text)).toMatchObject({ duplicate: true, eventType: 'invoice.paid' })
    await expectWithinGrant()
  })

  it('An agent cannot do a dry run', async () => {
    const mine = event('ticket.escalated', 'user_ada', { channel: 'email' })
    expect((await shop.post(agent, `${DISPATCH}?dryRun=true`, mine)).status).toBe(403)
  })

  it('An agent records only runs of its own session, for its own user', async () => {
    const posts: [object, number][] = [
      [{ sessionId: SESSION, run: { runId: 'r1', userId: 'user_boss', counts: { inputTokens: 1_000_000 } } }, 201],
      [{ sessionId: OTHER_SESSION, run: { runId: 'r2' } }, 403],
      [{ sessionId: SESSION, run: { runId: 'run-other', status: 'failed', error: { type: 'x' } } }, 201],
      [
        {
          sessionId: SESSION,
          run: { runId: 'r3', parentRunId: 'run-other', cost: { amount: '999', currency: 'USD', source: 'client' } },
        },
        201,
      ],
    ]
    for (const [post, status] of posts) expect((await shop.post(agent, RUN, post)).status).toBe(status)
    const batch = await shop.post(agent, `${RUN}/batch`, { runs: posts.map(([post]) => post) })
    expect(JSON.parse(batch.text).results.map((one: { status: number }) => one.status)).toEqual([200, 403, 200, 200])
    expect((await shop.sallyport.runs.get({ sessionId: SESSION, runId: 'r1' }))?.userId).toBe('user_ada')
    expect(await shop.sallyport.runs.get({ sessionId: OTHER_SESSION, runId: 'r2' })).toBeUndefined()
    expect(await shop.othersRecords()).toEqual(before)
  })

  it('An agent without a grant cannot dispatch', async () => {
    const plain = await shop.tokenFor(SESSION)
    for (const eventType of EVENTS)
      for (const recipient of RECIPIENTS)
        for (const channel of [undefined, ...CHANNELS])
          expect((await shop.post(plain, DISPATCH, event(eventType, recipient, { channel }))).status).toBe(403)
    expect(await dispatched()).toEqual([])
  })
})

/** Names that look the same to an eye or to a careless comparison. */
function disguised(name: string): fc.Arbitrary<unknown> {
  return fc.constantFrom<unknown>(
    name.toUpperCase(),
    ` ${name}`,
    `${name}\n`,
    `${name}\0`,
    `${name}\u200b`,
    name.replace('a', '\u0430'),
    name.normalize('NFD').replace('e', 'e\u0301'),
    `${name},user_boss`,
    [name],
    [name, 'user_boss'],
    { toString: name },
    { __proto__: null, value: name },
  )
}

import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { Principal } from '../../../src/model/principal.ts'
import { throttle } from '../../../src/policies/throttle.ts'
import { createSallyport, type Sallyport } from '../../../src/sallyport/create-sallyport.ts'
import { handleSessionRunWithDefaults } from '../../../src/sallyport/defaults.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger } from '../../support/deps.ts'
import { ROOT } from '../../support/entries.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const APP: Principal = { id: 'app', tenant: 'default' }
const agentOf = (sessionId: string, userId?: string): Principal => ({
  id: `token-${sessionId}`,
  tenant: 'default',
  sessionId,
  ...(userId !== undefined && { userId }),
})
const GREATEST_SEQ = Number.MAX_SAFE_INTEGER
const METERED = {
  runId: 'metered',
  status: 'running',
  counts: { inputTokens: 59_000 },
  cost: { amount: '59', currency: 'USD', source: 'provider' },
  metadata: { invoice: 'i1' },
}

/**
 * Each line of "What a session token can change" in docs/security.md. A case that turns red has become impossible: then its line
 * goes from the documents, and the case becomes a test that it stays impossible.
 */
describe('a session token without grants, as docs/security.md warns', () => {
  let store: ReturnType<typeof memoryStore>
  let sallyport: Pick<Sallyport, 'runs' | 'sessions' | 'budgets'>

  beforeEach(() => {
    store = memoryStore()
    const events = defineEvents({ 'run.failed': { channels: { ops: { text: () => 'A run failed' } } } })
    sallyport = createSallyport({
      auth: { verify: async () => APP },
      events,
      store,
      channels: { ops: recordingChannel() },
      logger: recordingLogger(),
      budgets: [{ name: 'session', per: 'session', hard: { cost: { amount: '10', currency: 'USD' } } }],
    })
  })

  async function post(by: Principal, run: object, sessionId = 's1') {
    const deps = { auth: { verify: async () => by }, store, logger: recordingLogger() }
    const body = { sessionId, run }
    return handleSessionRunWithDefaults({ headers: { authorization: 'Bearer any' }, body }, deps)
  }
  const stored = () => sallyport.runs.get('metered')

  it('wipes the tokens and the cost of a session by a new parent that counts its tree', async () => {
    await post(APP, METERED)
    expect((await sallyport.budgets.check({ sessionId: 's1' })).allowed).toBe(false)
    await post(agentOf('s1'), {
      runId: 'x',
      countsScope: 'tree',
      counts: { inputTokens: 0 },
      cost: { amount: '0', currency: 'USD', source: 'provider' },
    })
    await post(agentOf('s1'), { runId: 'metered', parentRunId: 'x' })
    expect((await sallyport.budgets.check({ sessionId: 's1' })).allowed).toBe(true)
    expect((await sallyport.sessions.get('s1'))?.counts.inputTokens ?? 0).toBe(0)
  })

  it('replaces a cost that the application reported', async () => {
    await post(APP, METERED)
    await post(agentOf('s1'), { runId: 'metered', seq: 1, cost: { amount: '0', currency: 'USD', source: 'provider' } })
    expect((await stored())?.cost?.amount).toBe('0')
  })

  it('has the application’s later corrections come out superseded by the greatest seq', async () => {
    await post(APP, METERED)
    await post(agentOf('s1'), { runId: 'metered', seq: GREATEST_SEQ, model: 'theirs' })
    const answer = await post(APP, { runId: 'metered', seq: 5, model: 'right' })
    expect(answer.ok && answer.body).toMatchObject({ ignored: [{ field: 'model', reason: 'superseded' }] })
  })

  it('charges another user with a run below that user’s run', async () => {
    await post(APP, { runId: 'theirs', userId: 'victim' })
    await post(agentOf('s1'), { runId: 'child', parentRunId: 'theirs', counts: { inputTokens: 7 } })
    expect(await store.findSpend('default', 'victim', 0)).not.toEqual([])
  })

  it('moves a run to the token’s user, sees its metadata, and deletes it', async () => {
    await post(APP, { ...METERED, userId: 'victim' })
    const answer = await post(agentOf('s1', 'thief'), { runId: 'metered', seq: GREATEST_SEQ, metadata: { other: 1 } })
    expect(answer.ok && answer.body).toMatchObject({ run: { userId: 'thief', metadata: { invoice: 'i1' } } })
    await post(agentOf('s1', 'thief'), { runId: 'metered', seq: GREATEST_SEQ, metadata: { invoice: null } })
    expect((await stored())?.metadata ?? {}).not.toHaveProperty('invoice')
  })

  it('overrules a failure that the application reported by completing the run', async () => {
    await post(APP, { ...METERED, status: 'failed' })
    await post(agentOf('s1'), { runId: 'metered', seq: 1, status: 'completed' })
    expect((await stored())?.status).toBe('completed')
  })

  it('occupies a run id that another session is about to use, and learns that it is in use', async () => {
    await post(agentOf('s2'), { runId: 'metered' }, 's2')
    expect((await post(APP, METERED)).status).toBe(409)
    await post(APP, { runId: 'r2' })
    expect((await post(agentOf('s2'), { runId: 'r2' }, 's2')).status).toBe(409)
  })

  it('uses up a throttle with run events, so that the failure in another session is not sent', async () => {
    const by: Principal[] = []
    const shop = createSallyport({
      auth: { verify: async () => by[0] ?? APP },
      events: defineEvents({ 'run.failed': { channels: { ops: { text: () => 'A run failed' } } } }),
      store,
      channels: { ops: recordingChannel() },
      logger: recordingLogger(),
      policy: throttle({ max: 3, windowMs: 3_600_000 }),
      runEvents: { 'run.failed': () => ({ recipient: 'ops@example.com' }) },
    })
    const host = toFetch(shop)
    const failures = (sessionId: string, count: number) =>
      host(
        new Request('http://shop.test/api/agents/session/run/batch', {
          method: 'POST',
          headers: { authorization: 'Bearer any', 'content-type': 'application/json' },
          body: JSON.stringify({
            runs: Array.from({ length: count }, (_, at) => ({
              sessionId,
              run: { runId: `${sessionId}-${at}`, status: 'failed' },
            })),
          }),
        }),
      )
    by[0] = agentOf('s1')
    await failures('s1', 100)
    await shop.endpoints.deliver()
    expect((await shop.dispatches.list({ eventType: 'run.failed', limit: 100 })).items).toHaveLength(100)
    by[0] = APP
    await failures('s2', 1)
    await shop.endpoints.deliver()
    const [own] = (await shop.dispatches.list({ sessionId: 's2' })).items
    expect(own?.deliveries.map(({ status, reason }) => [status, reason])).toEqual([['skipped', 'throttled']])
  })
})

describe('the documents', () => {
  const read = (page: string): string => readFileSync(new URL(page, ROOT), 'utf8')
  const [, section = ''] = read('docs/security.md').split('### What a session token can change\n')

  it.each(['README.md', 'docs/threat-model.md'])('lead from %s to what a session token can change', (page) => {
    expect(read(page)).toContain('security.md#what-a-session-token-can-change')
  })

  it.each([
    ...["| a run with `countsScope: 'tree'`", '| `cost:', '| `seq:', "| a run below another user's run"],
    ...['| `seq` alone', '| `metadata:', "| `status: 'completed'`", '**Run events.**', '**Run ids**'],
  ])('warn of %s', (text) => {
    expect(section).toContain(`\n${text}`)
  })
})

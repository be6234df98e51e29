import { beforeEach, describe, expect, it } from 'vitest'
import { createSallyport, type Sallyport } from '../../../src/compose/create-sallyport.ts'
import { handleSessionRunWithDefaults } from '../../../src/compose/defaults.ts'
import type { Principal } from '../../../src/model/principal.ts'
import type { PriceBook } from '../../../src/ports/price-book.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { recordingLogger } from '../../support/deps.ts'

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

/** Attacks of a session token without grants on what an application recorded in the same session. */
describe('a session token without grants', () => {
  let store: ReturnType<typeof memoryStore>
  let sallyport: Pick<Sallyport, 'runs' | 'sessions'>

  beforeEach(() => {
    store = memoryStore()
    sallyport = createSallyport({ auth: { verify: async () => APP }, store, logger: recordingLogger() })
  })

  async function post(by: Principal, run: object, sessionId = 's1', prices?: PriceBook) {
    const deps = { auth: { verify: async () => by }, store, logger: recordingLogger(), ...(prices && { prices }) }
    const body = { sessionId, run }
    return handleSessionRunWithDefaults({ headers: { authorization: 'Bearer any' }, body }, deps)
  }
  const stored = () => sallyport.runs.get({ sessionId: 's1', runId: 'metered' })

  it('A session token cannot clear the totals of its session with a new parent that counts its tree', async () => {
    await post(APP, METERED)
    await post(agentOf('s1'), {
      runId: 'x',
      countsScope: 'tree',
      counts: { inputTokens: 0 },
      cost: { amount: '0', currency: 'USD', source: 'provider' },
    })
    await post(agentOf('s1'), { runId: 'metered', parentRunId: 'x' })
    expect(await sallyport.sessions.get('s1')).toMatchObject({
      tokens: 59_000,
      cost: [{ amount: '59', currency: 'USD' }],
    })
  })

  it('A session token cannot replace a cost that the application reported', async () => {
    await post(APP, METERED)
    await post(agentOf('s1'), { runId: 'metered', seq: 1, cost: { amount: '0', currency: 'USD', source: 'provider' } })
    expect((await stored())?.cost?.amount).toBe('59')
  })

  it('A session token cannot supersede later corrections of the application with the greatest seq', async () => {
    await post(APP, METERED)
    await post(agentOf('s1'), { runId: 'metered', seq: GREATEST_SEQ, model: 'theirs' })
    const answer = await post(APP, { runId: 'metered', seq: 5, model: 'right' })
    expect(answer.ok && answer.body).toMatchObject({ ignored: [], run: { model: 'right' } })
  })

  it("A session token cannot charge another user with a run below that user's run", async () => {
    await post(APP, { runId: 'theirs', userId: 'victim' })
    await post(agentOf('s1'), { runId: 'child', parentRunId: 'theirs', counts: { inputTokens: 7 } })
    expect(await store.findSpend('default', 'victim', 0)).toMatchObject({ tokens: 0 })
  })

  it('A session token cannot move a run to its user, read its metadata, or delete the metadata', async () => {
    await post(APP, { ...METERED, userId: 'victim' })
    const answer = await post(agentOf('s1', 'thief'), { runId: 'metered', seq: GREATEST_SEQ, metadata: { other: 1 } })
    expect(answer.ok && answer.body.run).toEqual({
      ...{ runId: 'metered', sessionId: 's1', status: 'running' },
      ...{ seq: GREATEST_SEQ, userId: 'thief', metadata: { other: 1 } },
    })
    await post(agentOf('s1', 'thief'), { runId: 'metered', seq: GREATEST_SEQ, metadata: { invoice: null } })
    expect(await stored()).toMatchObject({ userId: 'victim', metadata: { invoice: 'i1' } })
  })

  it("A session token cannot change the application's sums of times, nor their precision", async () => {
    await post(APP, { runId: 'first', counts: { steps: 1 }, timings: { modelMs: 7 } })
    const runIds = Array.from({ length: 20 }, (_, at) => `r${at}`)
    for (const runId of runIds) {
      await post(APP, { runId, counts: { steps: 1 } })
      await post(agentOf('s1'), { runId, timings: { modelMs: Number.MAX_SAFE_INTEGER, toolMs: 1 } })
    }
    const times = async () => (await store.findSession('default', 's1'))?.totals.time
    expect(await times()).toEqual({ modelMs: 7 })
    for (const runId of runIds) await post(APP, { runId, seq: 1, timings: { modelMs: 0 } })
    expect(await times()).toEqual({ modelMs: 7 })
  })

  it('A session token does not learn whether a model that the application named has a price', async () => {
    const prices: PriceBook = {
      price: ({ model }) => (model === 'priced' ? { amount: '1', currency: 'USD', version: '1' } : undefined),
    }
    const warnings = async (model: string) => {
      await post(APP, { runId: model, model })
      const answer = await post(
        agentOf('s1'),
        { runId: model, status: 'completed', counts: { inputTokens: 1 } },
        's1',
        prices,
      )
      return answer.ok && answer.body.warnings
    }
    expect(await warnings('priced')).toEqual(await warnings('unknown'))
  })

  it('A session token cannot complete a run that the application reported as failed', async () => {
    await post(APP, { ...METERED, status: 'failed' })
    const answer = await post(agentOf('s1'), { runId: 'metered', seq: 1, status: 'completed' })
    expect((await stored())?.status).toBe('failed')
    expect(answer.ok && answer.body.ignored).toEqual([{ field: 'status', reason: 'application_recorded' }])
  })
})

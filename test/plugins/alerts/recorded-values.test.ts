import { expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { AGENT, postRun } from '../../compose/run-host.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'

it('A session token cannot lift a budget of its session with a new parent that counts its tree', async () => {
  const budget = { name: 'session', per: 'session', hard: { cost: { amount: '10', currency: 'USD' } } } as const
  const ports = { auth: testAuth, store: memoryStore(), logger: recordingLogger() }
  const sallyport = createSallyport({ ...ports, plugins: [alerts({ budgets: [budget] })] })
  const isAllowed = async () => (await sallyport.budgets.check({ sessionId: 's1' })).allowed
  const cost = (amount: string) => ({ amount, currency: 'USD', source: 'provider' })
  const metered = { runId: 'metered', status: 'running', counts: { inputTokens: 59_000 }, cost: cost('59') }
  await postRun(sallyport, metered)
  expect(await isAllowed()).toBe(false)
  await postRun(sallyport, { runId: 'x', countsScope: 'tree', counts: { inputTokens: 0 }, cost: cost('0') }, AGENT)
  await postRun(sallyport, { runId: 'metered', parentRunId: 'x' }, AGENT)
  expect(await isAllowed()).toBe(false)
})

import { expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { AlertOptions } from '../../../src/plugins/alerts/check-options.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { postRun } from '../../compose/run-host.ts'
import { testAuth } from '../../support/deps.ts'

const ports = () => ({ auth: testAuth, store: memoryStore(), logger: { log() {} } })
const runsHost = (options?: AlertOptions) => createSallyport({ ...ports(), plugins: [alerts(options)] })

it('A host that only records runs checks budgets only with the plugin alerts', async () => {
  expect(Object.keys(createSallyport(ports()))).not.toContain('budgets')
  const sallyport = runsHost({ budgets: [{ name: 'b', per: 'session', hard: { tokens: 5 } }] })
  expect(await runsHost().budgets.check({ sessionId: 's1' })).toEqual({ allowed: true, budgets: [] })
  await postRun(sallyport, { runId: 'r1', status: 'running', counts: { inputTokens: 5 } })
  expect(await sallyport.budgets.check({ sessionId: 's1' })).toMatchObject({
    allowed: false,
    budgets: [{ name: 'b', level: 'hard' }],
  })
})

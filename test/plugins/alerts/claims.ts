import { expect } from 'vitest'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { host, type Proof, RUN } from '../../docs/comparing.ts'

/** Statements about budgets in the tables of the comparison, `row: cell`. */
export const ALERTS_CLAIMS: Readonly<Record<string, Proof>> = {
  'budgets: your code must ask': async () => {
    const budgets = [{ name: 'tokens', per: 'session', hard: { tokens: 10 } }] as const
    const { post, sallyport } = host({ outcome: 'sent' }, { plugins: [alerts({ budgets })] })
    await post('agents/session/run', RUN)
    expect(await sallyport.budgets.check({ sessionId: 's1' })).toMatchObject({ allowed: false })
    expect((await post('agents/session/run', { ...RUN, run: { ...RUN.run, runId: 'r2' } })).status).toBe(201)
  },
}

import { expect, it } from 'vitest'
import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import { readHost } from '../../client/read-host.ts'

it('A client checks budgets', async () => {
  const { read, sallyport } = await readHost([alerts()])
  expect(await read.budgets({ sessionId: 's/1', userId: 'u1' })).toEqual(
    await sallyport.budgets.check({ sessionId: 's/1', userId: 'u1' }),
  )
})

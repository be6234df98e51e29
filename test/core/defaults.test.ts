import { expect, it } from 'vitest'
import { handleDispatch } from '../../src/defaults.ts'
import { testDeps } from '../support/deps.ts'

it('a logger that throws changes no answer', async () => {
  const logger = {
    log() {
      throw new Error('the disk is full')
    },
  }
  const { store, ...deps } = testDeps()
  const broken = {
    ...store,
    accept: async () => {
      throw new Error('down')
    },
  }
  const body = { eventType: 'order.shipped', recipient: 'a@example.com', eventData: { orderId: 'A', total: 1 } }
  const request = { headers: { authorization: 'Bearer app' }, body }
  expect(await handleDispatch(request, { ...deps, store: broken, logger })).toMatchObject({
    status: 503,
    body: { code: 'store_unavailable' },
  })
})

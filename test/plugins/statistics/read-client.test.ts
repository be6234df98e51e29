import { expect, it } from 'vitest'
import { statistics } from '../../../src/plugins/statistics/statistics.ts'
import { readHost } from '../../client/read-host.ts'

it('A client reads statistics', async () => {
  const { read, dispatched } = await readHost([statistics()])
  await dispatched()
  const { buckets } = await read.stats({ window: '10m', step: '5m' })
  expect([buckets.length, buckets.reduce((sum, { accepted }) => sum + accepted, 0)]).toEqual([2, 1])
})

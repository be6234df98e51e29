import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { statistics } from '../../../src/plugins/statistics/statistics.ts'
import { full, TENANT } from '../../options/host-rows.ts'
import { type PluginOptionRows, row } from '../../options/option-rows.ts'

const sallyport = createSallyport({ ...full, plugins: [statistics()] })

export const statisticsOptions: PluginOptionRows = {
  rows: [
    row(
      'sallyport stats',
      'StatisticsOptions',
      (options: object) => sallyport.stats(options),
      {},
      { tenant: TENANT, windowMs: [7, '1h', 401 * 86_400_000], stepMs: [7, '1m', 60_001, 2 * 86_400_000] },
    ),
  ],
  withoutOptions: { 'sallyport/plugins statistics': 'takes nothing' },
}

import { statistics } from '../../../src/plugins/statistics/statistics.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

export const statisticsSample: PluginSample = { create: () => statistics() }

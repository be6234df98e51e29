import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

export const alertsSample: PluginSample = (options) => alerts(options)

import { alerts } from '../../../src/plugins/alerts/alerts.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

export const alertsSample: PluginSample = { create: (options) => alerts(options) }

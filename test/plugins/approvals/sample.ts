import { approvals } from '../../../src/plugins/approvals/approvals.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

export const approvalsSample: PluginSample = { create: (options) => approvals({ events: {}, ...options }) }

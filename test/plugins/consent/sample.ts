import { consent } from '../../../src/plugins/consent/consent.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

const KEYS = [{ kid: 'k1', key: new Uint8Array(32).fill(7) }]

export const consentSample: PluginSample = (options) => consent({ keys: KEYS, ...options })

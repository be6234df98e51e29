import { type ConsentApi, consent } from '../../../src/plugins/consent/consent.ts'
import { feedbackRecords } from '../../../src/plugins/consent/feedback-records.ts'
import type { PluginSample } from '../../support/plugin-sample.ts'

const KEYS = [{ kid: 'k1', key: new Uint8Array(32).fill(7) }]

export const consentSample: PluginSample = {
  create: (options) => consent({ keys: KEYS, ...options }),
  async keep({ sallyport, store, tenant, recipient, deliveryId, text }) {
    const { preferences, suppressions } = sallyport as ConsentApi
    await preferences.set(recipient, { channels: { sms: true }, categories: { [recipient]: false } }, { tenant })
    await suppressions.add({ tenant, channel: 'email', address: recipient, category: tenant })
    const owner = { tenant, channel: 'email', owner: `delivery:${deliveryId}` } as const
    const at = Date.UTC(2026, 10, 24)
    await feedbackRecords(store).record({
      feedback: [
        { ...owner, feedbackId: `delivered ${deliveryId}`.padEnd(64, '.'), kind: 'delivered', at },
        { ...owner, feedbackId: `unknown ${deliveryId}`.padEnd(64, '.'), kind: 'unknown', at, code: text },
      ],
    })
  },
}

import { expect } from 'vitest'
import type { Proof } from '../../docs/comparing.ts'
import { ADA, type ConsentApp, consentApp } from './consenting.ts'

/** Statements about consent in the tables of the comparison, `row: cell`. */
export const CONSENT_CLAIMS: Readonly<Record<string, Proof>> = {
  'preferences: event, category, channel': async () => {
    const app = consentApp()
    for (const refusal of [
      { events: { news: false } },
      { categories: { newsletter: false } },
      { channels: { email: false } },
    ]) {
      await app.sallyport.preferences.set(ADA, refusal)
      expect(await outcomeOf(app)).toBe('skipped opted_out')
    }
  },
  'unsubscribe page: yes': async () => {
    const app = consentApp()
    expect(await outcomeOf(app)).toBe('sent')
    const link = String(app.email.sent[0]?.content.text).replace('Off: ', '')
    expect((await app.fetch(new Request(link))).headers.get('content-type')).toMatch('text/html')
    expect((await app.fetch(new Request(link, { method: 'POST' }))).status).toBe(200)
    expect(await outcomeOf(app)).toBe('skipped suppressed')
  },
}

async function outcomeOf(app: ConsentApp): Promise<string | undefined> {
  return (await app.outcomes(await app.send('news')))[0]
}

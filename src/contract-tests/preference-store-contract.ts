import type { PreferenceStore, StoredPreferences } from '../ports/preference-store.ts'
import { equal, ok } from './assertions.ts'
import { type ContractOptions, registerCases, STORE, type StoreCapabilities, type StoreTrial } from './contract.ts'
import { reopened, storeCases } from './store-cases.ts'

/** Options of {@link preferenceStoreContract}. */
export interface PreferenceStoreContractOptions extends ContractOptions {
  /** Returns an empty store for each case. */
  readonly create: () => StoreTrial<PreferenceStore> | Promise<StoreTrial<PreferenceStore>>
  readonly capabilities?: StoreCapabilities
}

/** Tests a `PreferenceStore`: registers a case per guarantee of the port with your test runner. An unavailable store is not tested. */
export function preferenceStoreContract(options: PreferenceStoreContractOptions): void {
  registerCases('preferenceStoreContract', STORE, CASES, options)
}

function preferencesOf(recipientKey: string, preferences: StoredPreferences['preferences'] = {}): StoredPreferences {
  return { recipientKey, tenant: 't', preferences }
}

const same: (trial: StoreTrial<PreferenceStore>) => StoreTrial<PreferenceStore> = (
  trial: StoreTrial<PreferenceStore>,
): StoreTrial<PreferenceStore> => trial

const CASES = [
  ...storeCases(same, [], {
    'preferences are found by their key': async ({ store }) => {
      const given = preferencesOf('k1.a', {
        channels: { sms: false },
        events: { 'o\u2019Hara "\\ \u{1f600}': { email: true } },
      })
      await store.setPreferences(given)
      equal(await store.findPreferences(['k1.a']), [given])
      equal(await store.findPreferences(['k1.A', 'k1.b']), [])
      equal(await store.findPreferences([]), [])
    },
    'preferences of several keys are found in one call': async ({ store }) => {
      await store.setPreferences(preferencesOf('k1.a'))
      await store.setPreferences(preferencesOf('k2.b'))
      const found = await store.findPreferences(['k2.b', 'k1.a', 'k1.a', 'k3.c'])
      equal(found.map(({ recipientKey }) => recipientKey).toSorted(), ['k1.a', 'k2.b'])
    },
    'preferences are replaced as a whole': async ({ store }) => {
      await store.setPreferences(preferencesOf('k1.a', { channels: { sms: false } }))
      await store.setPreferences(preferencesOf('k1.a', { events: { news: false } }))
      equal(await store.findPreferences(['k1.a']), [preferencesOf('k1.a', { events: { news: false } })])
    },
    'one of concurrent calls remains': async ({ store, other = store }) => {
      const given = Array.from({ length: 10 }, (_, at) => preferencesOf('k1.a', { at }))
      await Promise.all(given.map((one, at) => (at % 2 === 0 ? store : other).setPreferences(one)))
      const [found, ...more] = await store.findPreferences(['k1.a'])
      ok(more.length === 0 && given.some(({ preferences }) => preferences.at === found?.preferences.at), 'one remains')
    },
    'removed preferences are gone': async ({ store }) => {
      await store.setPreferences(preferencesOf('k1.a'))
      equal(await store.removePreferences(['k1.a', 'k1.b']), 1)
      equal(await store.findPreferences(['k1.a']), [])
      equal(await store.removePreferences(['k1.a']), 0)
      await store.setPreferences(preferencesOf('k1.a', { again: true }))
      equal(await store.findPreferences(['k1.a']), [preferencesOf('k1.a', { again: true })])
    },
    'a caller that changes a result does not change stored data': async ({ store }) => {
      await store.setPreferences(preferencesOf('k1.a', { channels: { sms: false } }))
      const [found] = await store.findPreferences(['k1.a'])
      Object.assign(Object(found?.preferences.channels), { sms: true })
      equal(await store.findPreferences(['k1.a']), [preferencesOf('k1.a', { channels: { sms: false } })])
    },
  }),
  ...storeCases(same, ['secondHandle'], {
    'preferences are visible through the other handle at once': async ({ store, other = store }) => {
      await store.setPreferences(preferencesOf('k1.a'))
      equal((await other.findPreferences(['k1.a'])).length, 1)
    },
  }),
  ...storeCases(same, ['durable'], {
    'preferences survive reopening': async (trial) => {
      await trial.store.setPreferences(preferencesOf('k1.a'))
      const { store } = await reopened(trial)
      equal((await store.findPreferences(['k1.a'])).length, 1)
    },
  }),
]

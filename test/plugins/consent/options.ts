import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import type { ConsentOptions } from '../../../src/plugins/consent/check-options.ts'
import { consent } from '../../../src/plugins/consent/consent.ts'
import type { FeedbackSource } from '../../../src/ports/feedback-source.ts'
import { full, HASH_KEY, KEYS, PAGE, scoped, TENANT } from '../../options/host-rows.ts'
import {
  FUNCTION,
  OBJECT,
  type OptionRow,
  outside,
  type PluginOptionRows,
  row,
  TEXT,
  UNSTORABLE,
} from '../../options/option-rows.ts'

const LINE = [...TEXT, '', ' ', 'a\0b', '\ud800', 'x'.repeat(1_001)]
const TAGGED = [...OBJECT, { x_y: {} }, { de: {}, DE: {} }]

const ses: FeedbackSource = { tenant: 'default', channel: 'email', receive: async () => ({ outcome: 'refused' }) }
const consenting: ConsentOptions = {
  keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }],
  softBounceMs: 1,
  feedback: { ses },
  page: { name: 'Shop', texts: { de: { title: 'x' } }, categories: { news: { de: 'x' } }, locale: 'de' },
}
const sallyport = createSallyport({ ...full, plugins: [consent(consenting)] })

function plugin(type: string, bad: OptionRow['bad'], at?: string): OptionRow {
  return row('sallyport/plugins consent', type, consent, consenting, bad, at === undefined ? {} : { at })
}

const CREATE: readonly OptionRow[] = [
  plugin('ConsentOptions', {
    keys: KEYS,
    softBounceMs: outside(0, 31 * 86_400_000),
    feedback: [
      ...OBJECT,
      ...[{ 'a/b': ses }, { ['x'.repeat(65)]: ses }, { ses: null }, { ses: undefined }, { ses: { channel: 'email' } }],
      { ses: () => ses },
      ...outside(1, 1_048_576).map((maxBytes) => ({ ses: { ...ses, maxBytes } })),
      ...FUNCTION.map((head) => ({ ses: { ...ses, head } })),
    ],
    page: OBJECT,
  }),
  plugin('HashKey', HASH_KEY, 'keys[0]'),
  plugin(
    'UnsubscribePageOptions',
    {
      name: LINE,
      title: LINE,
      texts: [...TAGGED, { de: 'x' }, { de: null }, { de: undefined }],
      categories: [...OBJECT, { news: 7 }, { news: '' }, { news: null }, { news: { x_y: 'x' } }, { news: { de: 7 } }],
      locale: [...TEXT, '', 'x_y', 'sv'],
      css: [...TEXT, '</style>', '</STYLE', 'a\0b', 'x'.repeat(65_537)],
    },
    'page',
  ),
  plugin(
    'sallyport/plugins#UnsubscribeTexts',
    {
      ...{ title: LINE, question: LINE, category: LINE, all: LINE },
      ...{ doneCategory: LINE, doneAll: LINE, note: LINE, failed: LINE },
    },
    'page.texts.de',
  ),
]

const REASON = ['bounce', 7]
const OF = { tenant: TENANT, address: UNSTORABLE, channel: UNSTORABLE }
const OF_KEY = { ...OF, addressKey: UNSTORABLE }
const ada = { address: 'ada@example.com' }

async function read(parts: AsyncIterable<string>): Promise<void> {
  for await (const part of parts) void part
}

const METHODS: readonly OptionRow[] = [
  row(
    'sallyport suppressions.list',
    'SuppressionListOptions',
    (options: object) => sallyport.suppressions.list(options),
    {},
    { ...PAGE, channel: UNSTORABLE, reason: REASON },
  ),
  row('sallyport suppressions.find', 'SuppressionsOfAddress', sallyport.suppressions.find, ada, OF_KEY),
  row(
    'sallyport suppressions.add',
    'AddSuppression',
    sallyport.suppressions.add,
    { ...ada, channel: 'email' },
    {
      ...OF,
      reason: REASON,
      category: [...TEXT, '', 'a b', 'x'.repeat(257)],
      expiresInMs: outside(1, 20 * 366 * 86_400_000),
    },
  ),
  row('sallyport suppressions.remove', 'SuppressionsOfAddress', sallyport.suppressions.remove, ada, OF_KEY),
  row(
    'sallyport suppressions.importCsv',
    'ImportSuppressionsOptions',
    (options: object) => sallyport.suppressions.importCsv('email\nada@example.com\n', options),
    {},
    { tenant: TENANT, channel: UNSTORABLE },
  ),
  scoped('suppressions.exportCsv', (scope) => read(sallyport.suppressions.exportCsv(scope))),
  row(
    'sallyport dispatches.profile',
    'ProfileOptions',
    sallyport.dispatches.profile,
    { recipient: 'ada' },
    { tenant: TENANT, recipient: UNSTORABLE },
  ),
  scoped('preferences.get', (scope) => sallyport.preferences.get('ada', scope)),
  scoped('preferences.set', (scope) => sallyport.preferences.set('ada', { channels: { sms: false } }, scope)),
]

export const consentOptions: PluginOptionRows = { rows: [...CREATE, ...METHODS] }

import { describe, expect, it } from 'vitest'
import { unsubscribePageOptions } from '../../../../src/plugins/consent/unsubscribe/unsubscribe-page-options.ts'

/** The faults of options, as `field detail`. */
function faults(options: unknown): readonly string[] {
  const found = unsubscribePageOptions(options, {})
  if (typeof found === 'string') return [found]
  return (found ?? []).map(({ field, detail }) => `${field} ${detail}`)
}

const TEXT = 'must be a text of 1 to 1000 characters'
const TAG = 'must be a BCP 47 tag, such as de or de-AT'

describe('the options of the unsubscribe page', () => {
  it.each([
    {},
    {
      ...{ name: 'Shop', title: 'Bye', locale: 'de-AT', css: 'h1{color:teal}' },
      texts: { 'de-at': { title: 'Abmelden' }, pl: {} },
      categories: { newsletter: 'News', offers: { de: 'Angebote', 'en-GB': 'Offers' } },
    },
  ])('Options %# are accepted', (options) => {
    expect(faults(options)).toEqual([])
  })

  it.each<[string, unknown, readonly string[]]>([
    ['no object', 5, ['undefined is a number; must be an object of options']],
    ['a name that is blank', { name: ' ' }, [`name ${TEXT}`]],
    ['a title that is too long', { title: 'x'.repeat(1_001) }, [`title ${TEXT}`]],
    ['a text that no store keeps', { texts: { de: { note: '\0' } } }, [`texts.de.note ${TEXT}`]],
    ['texts of no language', { texts: { 'de_AT!': {} } }, [`texts.de_AT! ${TAG}`]],
    [
      'texts twice',
      { texts: { de: {}, DE: {} } },
      ['texts.DE is there twice: in a tag, case makes no difference; give it once'],
    ],
    ['texts that are a list', { texts: [] }, ['texts is an empty array; must be an object']],
    ['a misspelt text', { texts: { de: { titel: 'x' } } }, ['texts.de.titel is not an option; near: title']],
    ['a category that is a number', { categories: { a: 5 } }, [`categories.a is a number; ${TEXT}`]],
    ['a category of no language', { categories: { a: { 'd!': 'x' } } }, [`categories.a.d! ${TAG}`]],
    ['a locale that is no tag', { locale: 'd!' }, ['locale is a string; must be a BCP 47 tag, such as de']],
    [
      'a locale without texts',
      { locale: 'pl' },
      ['locale is "pl"; must be one of the languages: en, de, fr, es, it, pt, nl'],
    ],
    [
      'css that ends its element',
      { css: 'a{}</STYLE >' },
      ['css must be CSS of at most 65536 characters without </style'],
    ],
    [
      'css that is too long',
      { css: 'x'.repeat(65_537) },
      ['css must be CSS of at most 65536 characters without </style'],
    ],
    [
      'an unknown option',
      { logo: 'x' },
      ['logo is not an option; the options are: name, title, texts, categories, locale, css'],
    ],
  ])('Options with %s are refused', (_, options, expected) => {
    expect(faults(options)).toEqual(expect.arrayContaining([...expected]))
  })
})

import { describe, expect, it } from 'vitest'
import { answerPageOptions } from '../../../../src/plugins/approvals/page/answer-page-options.ts'
import { ANSWER_TEXTS } from '../../../../src/plugins/approvals/page/texts/built-in-texts.ts'

/** The faults of options, as `field detail`. */
function faults(options: unknown): readonly string[] {
  const found = answerPageOptions(options, {})
  if (typeof found === 'string') return [found]
  return (found ?? []).map(({ field, detail }) => `${field} ${detail}`)
}

const TEXT = 'must be a text of 1 to 1000 characters'
const CSS = 'must be CSS of at most 65536 characters without </style'

describe('the options of the answer page', () => {
  it.each([
    {},
    {
      name: 'Shop',
      title: 'Please decide',
      locale: 'de-AT',
      css: 'h1{color:teal}',
      texts: { 'de-at': { accept: 'Ja' } },
    },
    { texts: { pl: ANSWER_TEXTS.en }, locale: 'PL' },
  ])('Options %# are accepted', (options) => {
    expect(faults(options)).toEqual([])
  })

  it.each<[string, unknown, readonly string[]]>([
    ['no object', 5, ['undefined is a number; must be an object of options']],
    ['a blank name', { name: ' ' }, [`name ${TEXT}`]],
    ['a title that no store keeps', { title: '\0' }, [`title ${TEXT}`]],
    [
      'a text that is too long',
      { texts: { de: { note: 'x', accept: 'x'.repeat(1_001) } } },
      [`texts.de.accept ${TEXT}`],
    ],
    ['a misspelt text', { texts: { de: { acept: 'x' } } }, ['texts.de.acept is not an option; near: accept']],
    ['texts of no language', { texts: { 'de_AT!': {} } }, ['texts.de_AT! must be a BCP 47 tag, such as de or de-AT']],
    [
      'texts twice',
      { texts: { de: {}, DE: {} } },
      ['texts.DE is there twice: in a tag, case makes no difference; give it once'],
    ],
    [
      'a locale without texts',
      { locale: 'pl' },
      ['locale is "pl"; must be one of the languages: en, de, fr, es, it, pt, nl'],
    ],
    ['css that ends its element', { css: 'a{}</STYLE >' }, [`css ${CSS}`]],
    ['css that is too long', { css: 'x'.repeat(65_537) }, [`css ${CSS}`]],
    ['an unknown option', { logo: 'x' }, ['logo is not an option; the options are: name, title, texts, locale, css']],
  ])('Options with %s are refused', (_, options, expected) => {
    expect(faults(options)).toEqual(expect.arrayContaining([...expected]))
  })
})

import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { PAGE_STYLE } from '../../../../src/pages/page-style.ts'
import { type PageState, unsubscribePages } from '../../../../src/plugins/consent/unsubscribe/unsubscribe-page.ts'
import type { UnsubscribePageOptions } from '../../../../src/plugins/consent/unsubscribe/unsubscribe-page-options.ts'
import { UNSUBSCRIBE_TEXTS } from '../../../../src/plugins/consent/unsubscribe/unsubscribe-texts.ts'
import { LINK, unsubscribeToken } from '../../../core/links/link-keys.ts'
import { htmlFaults } from '../../../pages/html-faults.ts'
import { fc } from '../../../support/properties.ts'
import { endpoint } from './unsubscribing.ts'

const STATES: readonly PageState[] = ['asked', 'category', 'all', 'failed']
const LANGUAGES = Object.keys(UNSUBSCRIBE_TEXTS)

const page = (options: UnsubscribePageOptions = {}, accept = '', state: PageState = 'asked', category = 'newsletter') =>
  unsubscribePages(options).render(state, category, accept)

describe('the unsubscribe page', () => {
  it.each(LANGUAGES.flatMap((language) => STATES.map((state) => [language, state] as const)))(
    'The page in %s, %s, is well-formed, with one heading, a language and no outside resource',
    (language, state) => {
      const { html } = page({ name: 'Shop & Söhne' }, language, state)
      expect(htmlFaults(html)).toEqual([])
      expect(html.match(/<h1>[^<]+<\/h1>/g)).toHaveLength(1)
      expect(html).toContain(`<html lang="${language}" dir="ltr">`)
      expect(html).toMatch(/<title>[^<]+ – Shop &amp; Söhne<\/title>/)
      expect(html).toContain('width=device-width')
      expect(html).not.toMatch(
        /<script|<link|<img|javascript:|https?:|@import|url\(|style=|\son[a-z]+=|undefined|\{category\}/i,
      )
    },
  )

  it('The form posts to the address of the page', () => {
    expect(page().html).toContain('<form method="post">')
  })

  it('Every built-in language has every text, and names the category in the question, the button and the result', () => {
    const names = Object.keys(UNSUBSCRIBE_TEXTS.en).sort()
    for (const texts of Object.values(UNSUBSCRIBE_TEXTS)) {
      expect(Object.keys(texts).sort()).toEqual(names)
      for (const text of [texts.question, texts.category, texts.doneCategory]) expect(text).toContain('{category}')
    }
  })
})

describe('the policy of the page', () => {
  it.each([
    ['the built-in style', {}],
    ['own rules', { css: 'h1 { color: teal }\r\n.ü > a { color: red }\r' }],
  ])('The policy allows exactly the style of the page: %s', async (_, options) => {
    const { text, headers } = await endpoint({ page: options }).send()
    // An HTML parser reads every line break as one line feed.
    const style = /<style>([\s\S]*)<\/style>/.exec(text)?.[1]?.replaceAll(/\r\n?/g, '\n') ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    )
    expect(style.startsWith(PAGE_STYLE)).toBe(true)
  })
})

describe('the language of the page', () => {
  it('The header Accept-Language decides, and the answer says so', async () => {
    const { headers, text } = await endpoint().send({ headers: { 'accept-language': ['ja', 'de-CH;q=0.5'] } })
    expect(headers).toMatchObject({ 'content-language': 'de', vary: 'accept-language' })
    expect(text).toContain('Möchten Sie „newsletter“ nicht mehr erhalten?')
  })

  it('Own texts replace those of their language, and add languages', () => {
    const texts = {
      'de-AT': { title: 'Abmelden' },
      de: { question: 'Kein „{category}“ mehr?' },
      ar: { title: 'إلغاء الاشتراك' },
      en: { all: undefined } as never,
    }
    const austrian = page({ texts }, 'de-AT')
    expect(austrian.language).toBe('de-at')
    expect(austrian.html).toContain('<h1>Abmelden</h1>')
    expect(austrian.html).toContain('Kein „newsletter“ mehr?')
    expect(austrian.html).toContain(UNSUBSCRIBE_TEXTS.de?.all)
    expect(page({ texts }, 'de-CH').html).toContain('<h1>Abbestellen</h1>')
    const arabic = page({ texts }, 'ar')
    expect(arabic.html).toContain('<html lang="ar" dir="rtl">')
    expect(arabic.html).toContain(UNSUBSCRIBE_TEXTS.en.all)
    expect(page({ texts }, 'en').html).toContain(UNSUBSCRIBE_TEXTS.en.all)
  })

  it('A title is the same in every language', () => {
    for (const language of LANGUAGES)
      expect(page({ title: 'Preferences' }, language).html).toContain('<h1>Preferences</h1>')
  })
})

describe('the readable name of a category', () => {
  const categories = { newsletter: { de: 'Rundbrief', en: 'News' }, offers: 'Angebote', only: { fr: 'Nouvelles' } }
  it.each([
    ['newsletter', 'de-AT', 'Rundbrief'],
    ['newsletter', 'fr', 'News'],
    ['offers', 'fr', 'Angebote'],
    ['only', 'de', 'Nouvelles'],
    ['other', 'de', 'other'],
    ['constructor', 'de', 'constructor'],
    ['__proto__', 'de', '__proto__'],
  ])('The category %s is shown in %s as %s', (category, language, name) => {
    expect(page({ categories }, language, 'asked', category).html).toContain(name)
  })

  it('The default language is tried before English', () => {
    const names = { newsletter: { en: 'News', it: 'Notizie' } }
    expect(page({ categories: names, locale: 'it' }, 'de').html).toContain('Notizie')
    expect(page({ categories: { newsletter: {} } }, 'de').html).toContain('newsletter')
  })
})

describe('markup in any text', () => {
  const EVIL = `</style></title><script>alert("1")</script><img src=x onerror='a'>&amp;{category}$&`

  it('Markup of the host, of the category and of the request is text', async () => {
    const texts = Object.fromEntries(Object.keys(UNSUBSCRIBE_TEXTS.en).map((name) => [name, EVIL]))
    const options = { name: EVIL, title: EVIL, texts: { en: texts }, categories: { [EVIL]: EVIL } }
    for (const state of STATES) {
      const { html } = page(options, EVIL, state, EVIL)
      expect(htmlFaults(html)).toEqual([])
      expect(html).not.toMatch(/<script|<img/)
      expect(html.match(/<\/style>/g)).toHaveLength(1)
    }
  })

  it('Any category of a token is escaped', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 60 }), async (category) => {
        const { send, deps } = endpoint({ page: { name: 'Shop' } })
        const { text } = await send({}, await unsubscribeToken({ ...LINK, category }, deps.keys))
        expect(htmlFaults(text)).toEqual([])
      }),
    )
  })

  it('The name of a category is inserted once, as it is', () => {
    const { html } = page({ categories: { newsletter: "$& {category} $'" } })
    expect(html).toContain('Do you want to stop receiving “$&amp; {category} $&#39;”?')
  })
})

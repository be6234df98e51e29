import { lookUpLocale } from '../../../model/locale-lookup.ts'
import { acceptedLanguages } from './accept-language.ts'
import type { LocalText, UnsubscribePageOptions } from './unsubscribe-page-options.ts'
import { STYLE } from './unsubscribe-style.ts'
import { DEFAULT_LANGUAGE, UNSUBSCRIBE_TEXTS, type UnsubscribeTexts } from './unsubscribe-texts.ts'

/** State of the page: before and after unsubscribing, from the category or from all, or after an error of the store. */
export type PageState = 'asked' | 'category' | 'all' | 'failed'

export interface UnsubscribePage {
  /** BCP 47 tag. */
  readonly language: string
  readonly html: string
}

/** The pages of a host. */
export interface UnsubscribePages {
  /** Content of the one `<style>` element. */
  readonly style: string
  /** Renders the page of a link for one category: HTML without scripts and external resources. */
  render(state: PageState, category: string, acceptLanguage: string): UnsubscribePage
}

export function unsubscribePages(options: UnsubscribePageOptions = {}): UnsubscribePages {
  const texts = textsByLanguage(options)
  const sender = options.name === undefined ? '' : escapeHtml(options.name)
  const style = options.css === undefined ? STYLE : `${STYLE}\n${options.css.replaceAll(/\r\n?/g, '\n')}`
  return {
    style,
    render(state, category, acceptLanguage) {
      const language = chosenLanguage(acceptLanguage, texts, options)
      const { title, ...own } = texts.get(language) ?? UNSUBSCRIBE_TEXTS[DEFAULT_LANGUAGE]
      const named = readableName(category, language, options)
      const say = (text: string): string => escapeHtml(text.replaceAll('{category}', () => named))
      const heading = say(options.title ?? title)
      return { language, html: htmlOf({ state, language, heading, sender, style }, own, say) }
    },
  }
}

interface Head {
  readonly state: PageState
  readonly language: string
  /** Escaped, like `sender`. */
  readonly heading: string
  readonly sender: string
  readonly style: string
}

function htmlOf({ state, language, heading, sender, style }: Head, own: Texts, say: Say): string {
  return `<!doctype html>
<html lang="${escapeHtml(language)}" dir="${RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${heading}${sender && ` – ${sender}`}</title>
<style>${style}</style>
</head>
<body>
<main>
${sender && `<p class="sender">${sender}</p>\n`}<h1>${heading}</h1>
${messageOf(state, own, say)}
${formOf(state, own, say)}<p class="note">${say(own.note)}</p>
</main>
</body>
</html>
`
}

type Say = (text: string) => string
type Texts = Omit<UnsubscribeTexts, 'title'>

function messageOf(state: PageState, texts: Texts, say: Say): string {
  switch (state) {
    case 'asked':
      return `<p>${say(texts.question)}</p>`
    case 'category':
      return `<p role="status">${say(texts.doneCategory)}</p>`
    case 'all':
      return `<p role="status">${say(texts.doneAll)}</p>`
    case 'failed':
      return `<p role="alert">${say(texts.failed)}</p>`
  }
}

/** The form has no action: it posts to the URL of the page, below any prefix. */
function formOf(state: PageState, texts: Texts, say: Say): string {
  if (state === 'all') return ''
  const category = `<button type="submit" name="scope" value="category">${say(texts.category)}</button>\n`
  const all = `<button type="submit" name="scope" value="all" class="second">${say(texts.all)}</button>\n`
  return `<form method="post">\n${state === 'category' ? '' : category}${all}</form>\n`
}

const RIGHT_TO_LEFT = /^(?:ar|ckb|dv|fa|he|ps|sd|ug|ur|yi)(?:-|$)/i

/** Texts of one language. */
interface LanguageTexts extends UnsubscribeTexts {
  /** BCP 47 tag in lower case. */
  readonly language: string
}

/** The built-in and own texts of every language, complete, by tags in lower case. */
function textsByLanguage({ texts: given = {} }: UnsubscribePageOptions): ReadonlyMap<string, LanguageTexts> {
  const builtIn = new Map(Object.entries(UNSUBSCRIBE_TEXTS))
  const own = byLowerCase(given)
  const tags = new Set([...builtIn.keys(), ...own.keys()])
  return new Map(
    [...tags].map((tag) => {
      const parts = tag.split('-').map((_, index, all) => all.slice(0, index + 1).join('-'))
      const layers = [DEFAULT_LANGUAGE, ...parts].map((one) => ({ ...builtIn.get(one), ...defined(own.get(one)) }))
      return [tag, Object.assign({ ...UNSUBSCRIBE_TEXTS[DEFAULT_LANGUAGE] }, ...layers, { language: tag })]
    }),
  )
}

function defined(texts: Partial<UnsubscribeTexts> = {}): Partial<UnsubscribeTexts> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
}

function chosenLanguage(
  acceptLanguage: string,
  texts: ReadonlyMap<string, LanguageTexts>,
  { locale = DEFAULT_LANGUAGE }: UnsubscribePageOptions,
): string {
  for (const range of acceptedLanguages(acceptLanguage)) {
    const found = lookUpLocale(texts, range)
    if (found !== undefined) return found.language
  }
  return texts.get(locale.toLowerCase())?.language ?? DEFAULT_LANGUAGE
}

/** The name of a category in a language, in the default language, or in any; otherwise the category itself. */
function readableName(
  category: string,
  language: string,
  { categories = {}, locale = DEFAULT_LANGUAGE }: UnsubscribePageOptions,
): string {
  const given: LocalText | undefined = Object.hasOwn(categories, category) ? categories[category] : undefined
  if (given === undefined || typeof given === 'string') return given ?? category
  const names = byLowerCase(given)
  const found = [language, locale, DEFAULT_LANGUAGE].map((tag) => lookUpLocale(names, tag))
  return found.find((name) => name !== undefined) ?? Object.values(given)[0] ?? category
}

function byLowerCase<T>(record: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(record).map(([tag, value]) => [tag.toLowerCase(), value]))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '')
}

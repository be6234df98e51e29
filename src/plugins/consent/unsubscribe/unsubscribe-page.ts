import { lookUpLocale } from '../../../model/locale-lookup.ts'
import { filled, type Html, html } from '../../../pages/html.ts'
import { htmlPage } from '../../../pages/html-page.ts'
import { byLowerCase, DEFAULT_LANGUAGE, pageLanguages } from '../../../pages/page-languages.ts'
import { PAGE_STYLE, styleOf } from '../../../pages/page-style.ts'
import type { LocalText, UnsubscribePageOptions } from './unsubscribe-page-options.ts'
import { UNSUBSCRIBE_TEXTS, type UnsubscribeTexts } from './unsubscribe-texts.ts'

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
  const textsFor = pageLanguages(UNSUBSCRIBE_TEXTS, options)
  const style = styleOf(PAGE_STYLE, options.css)
  return {
    style,
    render(state, category, acceptLanguage) {
      const { language, texts } = textsFor(acceptLanguage)
      const named = readableName(category, language, options)
      const say: Say = (text) => filled(text, { category: named })
      const heading = say(options.title ?? texts.title)
      const body = html`${messageOf(state, texts, say)}
${formOf(state, texts, say)}<p class="note">${say(texts.note)}</p>`
      return { language, html: htmlPage({ language, heading, sender: options.name, style, body }) }
    },
  }
}

type Say = (text: string) => Html

function messageOf(state: PageState, texts: UnsubscribeTexts, say: Say): Html {
  switch (state) {
    case 'asked':
      return html`<p>${say(texts.question)}</p>`
    case 'category':
      return html`<p role="status">${say(texts.doneCategory)}</p>`
    case 'all':
      return html`<p role="status">${say(texts.doneAll)}</p>`
    case 'failed':
      return html`<p role="alert">${say(texts.failed)}</p>`
  }
}

/** The form has no action: it posts to the URL of the page, below any prefix. */
function formOf(state: PageState, texts: UnsubscribeTexts, say: Say): Html | undefined {
  if (state === 'all') return undefined
  const category = html`<button type="submit" name="scope" value="category">${say(texts.category)}</button>\n`
  const all = html`<button type="submit" name="scope" value="all" class="second">${say(texts.all)}</button>\n`
  return html`<form method="post">\n${state === 'category' ? undefined : category}${all}</form>\n`
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

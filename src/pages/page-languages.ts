import { lookUpLocale } from '../model/locale-lookup.ts'
import { acceptedLanguages } from './accept-language.ts'

export const DEFAULT_LANGUAGE = 'en'

/** The built-in texts of a page, by language. English has every text. */
export type BuiltInTexts<Texts> = Readonly<Record<string, Texts>> & { readonly [DEFAULT_LANGUAGE]: Texts }

/** Options of a page that decide its language and texts. */
interface LanguageOptions<Texts> {
  readonly texts?: Readonly<Record<string, Partial<Texts>>> | undefined
  readonly locale?: string | undefined
}

/** The complete texts of one language. */
export interface PageTexts<Texts> {
  /** BCP 47 tag in lower case. */
  readonly language: string
  readonly texts: Texts
}

/** Returns a function that finds the texts for an `Accept-Language` header, among the built-in languages and those of the host. */
export function pageLanguages<Texts extends object>(
  builtIn: BuiltInTexts<Texts>,
  { texts = {}, locale = DEFAULT_LANGUAGE }: LanguageOptions<Texts>,
): (acceptLanguage: string) => PageTexts<Texts> {
  const all = textsByLanguage(builtIn, texts)
  const fallback = all.get(locale.toLowerCase()) ?? { language: DEFAULT_LANGUAGE, texts: builtIn[DEFAULT_LANGUAGE] }
  return (acceptLanguage) => {
    for (const range of acceptedLanguages(acceptLanguage)) {
      const found = lookUpLocale(all, range)
      if (found !== undefined) return found
    }
    return fallback
  }
}

/** By tags in lower case. Texts that a language lacks are those of its shorter tag, then English. */
function textsByLanguage<Texts extends object>(
  builtIn: BuiltInTexts<Texts>,
  given: Readonly<Record<string, Partial<Texts>>>,
): ReadonlyMap<string, PageTexts<Texts>> {
  const provided = new Map<string, Texts>(Object.entries(builtIn))
  const own = byLowerCase(given)
  const tags = new Set([...provided.keys(), ...own.keys()])
  return new Map(
    [...tags].map((tag) => {
      const parts = tag.split('-').map((_, index, all) => all.slice(0, index + 1).join('-'))
      const layers = [DEFAULT_LANGUAGE, ...parts].map((one) => ({ ...provided.get(one), ...defined(own.get(one)) }))
      return [tag, { language: tag, texts: Object.assign({ ...builtIn[DEFAULT_LANGUAGE] }, ...layers) }]
    }),
  )
}

function defined(texts: object = {}): object {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== undefined))
}

export function byLowerCase<T>(record: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(record).map(([tag, value]) => [tag.toLowerCase(), value]))
}

import { expect, it } from 'vitest'
import { pageLanguages } from '../../src/pages/page-languages.ts'
import { fc } from '../support/properties.ts'
import { searchedBy } from '../support/searched.ts'

const OTHER = { title: 'Titre', note: 'Remarque' }
const BUILT_IN = {
  en: { title: 'Title', note: 'Note' },
  de: { title: 'Titel', note: 'Hinweis' },
  ...{ fr: OTHER, es: OTHER, it: OTHER, pt: OTHER, nl: OTHER },
}

const find = pageLanguages(BUILT_IN, {})

it.each([
  ['', 'en'],
  ['*', 'en'],
  ['de', 'de'],
  ['de-AT,de;q=0.9,en;q=0.8', 'de'],
  ['zh-CN, fr-CA;q=0.7, es;q=0.8', 'es'],
  ['en;q=0.1, NL ; q=0.9', 'nl'],
  ['de;q=0, it', 'it'],
  ['de;q=2, pt', 'pt'],
  ['toString, __proto__, constructor', 'en'],
])('A browser that accepts "%s" gets %s', (accept, language) => {
  expect(find(accept).language).toBe(language)
})

it('Own texts replace those of their language, and add languages, whose other texts are those of the shorter tag, then English', () => {
  const texts = { 'de-AT': { title: 'Titul' }, ja: { title: '題' }, en: { note: undefined } as never }
  const own = pageLanguages(BUILT_IN, { texts })
  expect(own('de-AT-1996')).toEqual({ language: 'de-at', texts: { title: 'Titul', note: 'Hinweis' } })
  expect(own('de-CH').texts).toEqual(BUILT_IN.de)
  expect(own('ja').texts).toEqual({ title: '題', note: 'Note' })
  expect(own('en').texts).toEqual(BUILT_IN.en)
})

it('The option locale is the language for all others', () => {
  expect(pageLanguages(BUILT_IN, { locale: 'DE' })('ja').language).toBe('de')
  expect(pageLanguages(BUILT_IN, { locale: 'de' })('en').language).toBe('en')
  expect(pageLanguages(BUILT_IN, { locale: 'ja' })('ja').language).toBe('en')
})

it.each<[string, (times: number) => string]>([
  ['commas', (times) => ','.repeat(times)],
  ['ranges', (times) => 'de-'.repeat(times)],
  ['weights', (times) => `de;q=0.${'0'.repeat(times)}`],
  ['spaces', (times) => `de${' '.repeat(times)};q=1`],
  ['many ranges', (times) => 'xx;q=0.5,'.repeat(times)],
])('No more is searched of a longer header: %s', (_, header) => {
  const searched = (times: number) => searchedBy(() => find(header(times)))
  expect(searched(1e5)).toBe(searched(1e4))
})

it('Any header gives a language of the page', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (header) => Object.keys(BUILT_IN).includes(find(header).language)),
  )
})

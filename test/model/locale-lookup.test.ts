import { describe, expect, it } from 'vitest'
import { isLanguageTag, lookUpLocale } from '../../src/model/locale-lookup.ts'
import { fc, runs } from '../support/properties.ts'

const TAGS = ['de', 'de-at', 'de-1996', 'zh-hant', 'zh-hant-tw', 'en-a-myext', 'en-x-us', 'de-at-u-nu-latn']
const BY_TAG: ReadonlyMap<string, string> = new Map(TAGS.map((tag) => [tag, tag]))

describe('a lookup', () => {
  it.each<[string, string | undefined]>([
    ['de', 'de'],
    ['de-AT', 'de-at'],
    ['DE-at', 'de-at'],
    ['dE', 'de'],
    ['de-CH', 'de'],
    ['de-AT-1996', 'de-at'],
    ['de-1996', 'de-1996'],
    ['de-Latn-AT', 'de'],
    ['zh', undefined],
    ['zh-Hans-CN', undefined],
    ['zh-Hant-HK', 'zh-hant'],
    ['zh-Hant-TW-x-private1-private2', 'zh-hant-tw'],
    ['en', undefined],
    ['en-US', undefined],
    ['en-a-myext', 'en-a-myext'],
    ['en-a-myext-b-another', 'en-a-myext'],
    ['en-x-us', 'en-x-us'],
    ['en-x-us-a-b-c', 'en-x-us'],
    ['de-AT-u-nu-latn', 'de-at-u-nu-latn'],
    ['de-AT-u-nu-arab', 'de-at'],
    ['de-AT-u-ca-gregory', 'de-at'],
    ['fr', undefined],
    ['deu', undefined],
    ['d', undefined],
  ])('The lookup of %s finds %s', (locale, found) => {
    expect(lookUpLocale(BY_TAG, locale)).toBe(found)
  })

  it.each([
    '',
    '-',
    'de-',
    '-de',
    'de_AT',
    'de--AT',
    'de-@',
    'de-AT-',
    'de AT',
    'de-1996-1996',
    'de-a',
    'de-toolonganame',
  ])('The lookup of the malformed %j finds nothing', (locale) => {
    expect(lookUpLocale(BY_TAG, locale)).toBeUndefined()
  })

  it.each([undefined, null, 5, ['de']])('The lookup of %j, which is not text, finds nothing', (locale) => {
    expect(lookUpLocale(BY_TAG, locale as undefined)).toBeUndefined()
  })

  it('The lookup accepts 255 characters and does not start for more', () => {
    const long = `de-x-${'aaa-'.repeat(62)}aa`
    const asked: string[] = []
    const asking = new Map(BY_TAG)
    asking.get = (tag) => {
      asked.push(tag)
      return BY_TAG.get(tag)
    }
    expect(long).toHaveLength(255)
    expect(lookUpLocale(asking, `${long}a`)).toBeUndefined()
    expect(asked).toEqual([])
    expect(lookUpLocale(asking, long)).toBe('de')
    expect(asked.slice(-2)).toEqual(['de-x-aaa', 'de'])
    expect([isLanguageTag(long), isLanguageTag(`${long}a`)]).toEqual([true, false])
  })

  it('The lookup equals that of RFC 4647, section 3.4', () => {
    fc.assert(
      fc.property(fc.array(tag()), tag(), fc.nat(), (tags, locale, cut) => {
        const prefix = locale
          .split('-')
          .slice(0, 1 + (cut % 6))
          .join('-')
        const all = [...tags, ...(isLanguageTag(prefix) ? [prefix] : [])].map((name) => name.toLowerCase())
        expect(lookUpLocale(new Map(all.map((name) => [name, name])), locale)).toBe(naiveLookup(all, locale))
      }),
      { numRuns: runs(2000) },
    )
  })
})

/** A well-formed tag in any letter case, from few languages to make matches likely. */
function tag(): fc.Arbitrary<string> {
  const part = (...texts: string[]): fc.Arbitrary<string> => fc.constantFrom('', '', ...texts)
  return fc
    .tuple(
      fc.constantFrom('de', 'zh', 'sl'),
      part('-Latn', '-Hant'),
      part('-AT', '-CN', '-419'),
      part('-1996', '-rozaj', '-rozaj-biske'),
      part('-u-nu-latn', '-a-foo', '-a-foo-b-bar-baz'),
      part('-x-a', '-x-a-b', '-x-private-q-1'),
    )
    .chain((parts) => fc.mixedCase(fc.constant(parts.join(''))))
    .filter(isLanguageTag)
}

/** The RFC word for word: truncates the range until it matches; drops a single character with its extension. */
function naiveLookup(tags: readonly string[], range: string): string | undefined {
  const subtags = range.toLowerCase().split('-')
  while (subtags.length > 0) {
    const match = tags.find((name) => name === subtags.join('-'))
    if (match !== undefined) return match
    subtags.pop()
    if (subtags.at(-1)?.length === 1) subtags.pop()
  }
  return undefined
}

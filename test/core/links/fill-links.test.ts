import { describe, expect, it } from 'vitest'
import { fillLinks, linksIn, placeholdersOf } from '../../../src/core/links/fill-links.ts'
import type { Content } from '../../../src/model/dispatch.ts'
import { fc } from '../../support/properties.ts'

const MARK = 'https://links.sallyport.invalid/unsubscribe'
const NAMES = ['unsubscribe']
const LINKS = { unsubscribe: 'https://app.example/base/k1.abc.def' }

const filled = (content: Content, links = LINKS): Content => fillLinks(content, links)
const hasPlaceholder = (content: Content): boolean => linksIn(content, NAMES).length > 0

describe('placeholders of links', () => {
  it('Every text of the content gets the link, also within lists and objects', () => {
    const content = {
      html: `<a href="${MARK}">off</a> <a href="${MARK}">off</a>`,
      headers: { 'X-Off': MARK, n: 1 },
      attachments: [{ content: `see ${MARK}` }, [MARK, null, true]],
      data: null,
    }
    const { unsubscribe } = LINKS
    expect(filled(content)).toEqual({
      html: `<a href="${unsubscribe}">off</a> <a href="${unsubscribe}">off</a>`,
      headers: { 'X-Off': unsubscribe, n: 1 },
      attachments: [{ content: `see ${unsubscribe}` }, [unsubscribe, null, true]],
      data: null,
    })
    expect(hasPlaceholder(content)).toBe(true)
  })

  it('A placeholder in the query of another URL gets the encoded link', () => {
    expect(filled({ text: `https://click.example/?to=${encodeURIComponent(MARK)}&x=1` })).toEqual({
      text: `https://click.example/?to=${encodeURIComponent(LINKS.unsubscribe)}&x=1`,
    })
  })

  it('A link with characters of a replacement pattern is inserted unchanged', () => {
    const unsubscribe = "https://app.example/$&/$1/$$/$`/$'"
    expect(filled({ text: `<${MARK}>` }, { unsubscribe })).toEqual({ text: `<${unsubscribe}>` })
  })

  it('Text may follow without a space, and the links of several names are told apart', () => {
    const links = { approve: 'https://app.example/a', unsubscribe: 'https://app.example/u' }
    const marks = placeholdersOf({ approve: () => '', unsubscribe: () => '' })
    const content = { text: `${marks.approve}_1 ${marks.unsubscribe}. ${marks.approve}${marks.unsubscribe}` }
    const { approve, unsubscribe } = links
    expect(fillLinks(content, links)).toEqual({ text: `${approve}_1 ${unsubscribe}. ${approve}${unsubscribe}` })
    expect(linksIn(content, ['unknown', ...Object.keys(links)])).toEqual(['approve', 'unsubscribe'])
  })

  it('Names of members remain', () => {
    expect(filled({ headers: { [MARK]: 'x' } })).toEqual({ headers: { [MARK]: 'x' } })
    expect(hasPlaceholder({ headers: { [MARK]: 'x' } })).toBe(false)
  })

  it('Other content remains as it is', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(json, (given) => {
        const content = JSON.parse(JSON.stringify(given)) as Content
        expect(hasPlaceholder(content)).toBe(false)
        expect(JSON.stringify(filled(content))).toBe(JSON.stringify(content))
      }),
    )
  })

  it('Filled content has no placeholder', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const marked = (_: string, value: unknown) => (typeof value === 'string' ? `${value}${MARK}${value}` : value)
        const value = JSON.parse(JSON.stringify(given), marked)
        expect(hasPlaceholder(filled({ value }))).toBe(false)
      }),
    )
  })
})

import { describe, expect, it } from 'vitest'
import { filled, Html, html } from '../../src/pages/html.ts'
import { htmlPage } from '../../src/pages/html-page.ts'
import { fc } from '../support/properties.ts'
import { htmlFaults } from './html-faults.ts'

const EVIL = `</style></title><script>alert("1")</script><img src=x onerror='a'>&amp;$&`

describe('html', () => {
  it('Texts are escaped, HTML is not, lists are joined, and undefined is nothing', () => {
    expect(String(html`<p>${'<&>"'}${html`<b>${"'"}</b>`}${['a', html`<i>`]}${undefined}</p>`)).toBe(
      '<p>&lt;&amp;&gt;&quot;<b>&#39;</b>a<i></p>',
    )
  })

  it('An object that only looks like HTML is not inserted', () => {
    expect(() => html`${{ toString: () => '<b>' } as never}`).toThrow(TypeError)
  })

  it('Any text is harmless in a text and in an attribute', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constant(EVIL)), (text) => {
        expect(htmlFaults(`<!doctype html>${html`<p title="${text}">${text}</p>`}`)).toEqual([])
      }),
    )
  })
})

describe('filled', () => {
  it('Known names are replaced each time, unknown ones stay, and inserted texts are not searched again', () => {
    const text = filled('{a} & {b} {a}{c}{}{', { a: '{b}', b: html`<b>$&</b>` })
    expect(String(text)).toBe('{b} &amp; <b>$&</b> {b}{c}{}{')
  })

  it.each(['constructor', '__proto__', 'toString'])('The name %s stands for nothing', (name) => {
    expect(String(filled(`{${name}}`, {}))).toBe(`{${name}}`)
  })
})

describe('a page', () => {
  it.each([
    ['ar', 'rtl'],
    ['he-IL', 'rtl'],
    ['de', 'ltr'],
  ])('A page in %s is written from the right side: %s', (language, dir) => {
    const page = htmlPage({ language, heading: html`a`, sender: undefined, style: '', body: html`` })
    expect(page).toContain(`<html lang="${language}" dir="${dir}">`)
    expect(page).not.toContain('sender')
  })

  it('Language, heading and sender are escaped, and the style is as it is', () => {
    const page = htmlPage({
      language: EVIL,
      heading: html`${EVIL}`,
      sender: EVIL,
      style: 'a>b{}',
      body: html`<p>b</p>`,
    })
    expect(htmlFaults(page)).toEqual([])
    expect(page).toContain('<style>a>b{}</style>')
    expect(page).not.toMatch(/<script|<img/)
    expect(new Html('<b>').toString()).toBe('<b>')
  })
})

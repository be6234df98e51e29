import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { serviceOrSkip } from '../queues/services.ts'
import { HANG_MS } from '../support/unhurried.ts'
import { inBrowser } from './browser.ts'
import { buildSite, type Site, searchOf, sidebarOf } from './built-site.ts'

let built: Site
let site = ''

beforeAll(async () => {
  built = await buildSite()
  site = built.folder
}, HANG_MS)

afterAll(() => built.remove())

const read = (path: string): string => readFileSync(join(site, path), 'utf8')
const pages = (): readonly string[] =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.html'))

describe('the built site', () => {
  it('The built site begins with the landing page and its picture, in both themes and for narrow screens', () => {
    const pictures = [...read('index.html').matchAll(/(?:src|srcset)="(media\/flows-[\w-]+\.svg)"/g)]
    const paths = pictures.map(([, path = '']) => path)
    expect(paths).toHaveLength(4)
    expect(new Set(paths.map(read)).size).toBe(4)
  })

  it('The sidebar has one entry for all decisions, and the list links to a page for each', () => {
    const decisions = sidebarOf(site)
      .flatMap(({ children = [] }) => children)
      .filter(({ text }) => text === 'Decisions')
    expect(decisions).toHaveLength(1)
    expect(decisions[0]?.children).toBeUndefined()
    const built = readdirSync(join(site, 'Decisions')).filter((name) => name !== 'Decisions.html')
    expect(built.length).toBeGreaterThan(0)
    const list = decodeURIComponent(read('Decisions/Decisions.html'))
    expect(built.filter((name) => !list.includes(`href="${name}"`))).toEqual([])
  })

  it.each([
    ['slack', 'How_it_works/Chat_channels.html'],
    ['unit test', 'How_it_works/Testing.html'],
  ])('The search finds for "%s" first %s', (words, page) => {
    expect(searchOf(site)(words)[0]?.url).toBe(page)
  })

  it.each([
    ['retry', 'How_it_works/Delivery.html'],
    ['multi-tenant', 'Running_it/Operating.html'],
  ])('The search for "%s" also finds %s, which contains the words', (words, page) => {
    expect(searchOf(site)(words).map(({ url }) => url)).toContain(page)
    expect(read(page)).toMatch(new RegExp(words, 'i'))
  })

  it('The built site loads nothing from another origin', () => {
    const loading = /<(?:script|link|img|source|iframe)\b[^>]*?\b(?:src|srcset|href)="(?:https?:)?\/\/[^"]*"/g
    expect(pages().flatMap((page) => read(page).match(loading) ?? [])).toEqual([])
    const styles = readdirSync(join(site, 'assets')).filter((name) => name.endsWith('.css'))
    expect(styles.filter((name) => /(?:url\(|@import)\s*["']?https?:/.test(read(`assets/${name}`)))).toEqual([])
  })
})

const withBrowser = await serviceOrSkip('chromium')

/** Measurements of a page in a window of 360 px. */
interface Shown {
  readonly width: number
  readonly diagrams: number
  readonly foreign: readonly string[]
}

withBrowser('the built site, in Chromium', () => {
  it(
    'Every page fits 360 px, draws its diagrams, and requests no other origin',
    async () => {
      const diagrams = pages().filter((page) => read(page).includes('class="mermaid"'))
      expect(diagrams.length).toBeGreaterThan(0)
      const guides = pages().filter((page) => /^(?:Start|Calling|How_it_works|Running_it)\//.test(page))
      const reference = ['modules.html', 'sallyport.html', 'sallyport/createSallyport.html', 'sallyport/Channel.html']
      const paths = [...new Set(['index.html', 'Decisions/Decisions.html', ...guides, ...reference, ...diagrams])]
      const shown = (await inBrowser(
        site,
        `const shown = {}
        for (const path of ${JSON.stringify(paths)}) {
          const view = await show(path)
          shown[path] = {
            width: view.document.documentElement.scrollWidth,
            diagrams: view.document.querySelectorAll('.diagram svg').length,
            foreign: view.performance.getEntriesByType('resource').map(({ name }) => name)
              .filter((name) => new URL(name).origin !== location.origin),
          }
        }
        await report(shown)`,
      )) as Readonly<Record<string, Shown>>
      expect(Object.keys(shown)).toEqual(paths)
      expect(Object.entries(shown).filter(([, { width }]) => width > 360)).toEqual([])
      const sources = (path: string): number => read(path).split('class="mermaid"').length - 1
      expect(diagrams.filter((path) => shown[path]?.diagrams !== sources(path))).toEqual([])
      expect(Object.values(shown).flatMap(({ foreign }) => foreign)).toEqual([])
    },
    HANG_MS,
  )

  it(
    'The search field lists the same pages as the search index',
    async () => {
      const words = 'multi-tenant'
      const listed = await inBrowser(
        site,
        `const { document: page, Event } = await show('index.html')
        const field = page.getElementById('tsd-search-input')
        page.getElementById('tsd-search-trigger').click()
        await until(() => page.getElementById('tsd-search-status').textContent.trim() === '')
        field.value = ${JSON.stringify(words)}
        field.dispatchEvent(new Event('input'))
        const found = await until(() => {
          const links = [...page.querySelectorAll('#tsd-search-results a')]
          return links.length > 0 && links.map(({ href }) => new URL(href).pathname.replace('/site/', ''))
        })
        await report(found)`,
      )
      expect(listed).toEqual(searchOf(site)(words).map(({ url }) => url))
    },
    HANG_MS,
  )
})

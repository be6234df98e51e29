import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CHAPTERS, readChapter } from '../../docs/site/portable.ts'
import { proseOf } from '../../docs/site/prose.ts'
import { SEARCH_WORDS } from '../../docs/site/search-words.ts'
import { serviceOrSkip } from '../queues/services.ts'
import { ROOT } from '../support/entries.ts'
import { HANG_MS } from '../support/unhurried.ts'
import { inBrowser } from './browser.ts'
import { buildSite, type Site, searchOf, sidebarOf } from './built-site.ts'
import { QUESTIONS } from './questions.ts'

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

/** Pages of the site to which the content of a page links, without the sidebar. */
function linksOf(page: string): readonly string[] {
  const [, content = ''] = read(page).split('<div class="col-content">')
  const [own = ''] = content.split('<div class="col-sidebar">')
  return [...own.matchAll(/href="([^":#]+\.html)/g)].map(([, link = '']) => posix.join(posix.dirname(page), link))
}

function headingsOf(page: string): readonly string[] {
  return [...read(page).matchAll(/<h[1-4][^>]*>(.*?)<\/h[1-4]>/gs)].map(([, html = '']) =>
    html.replaceAll(/<[^>]+>/g, ''),
  )
}

function markdownOf(page: string): string {
  return page.replace(/html$/, 'md')
}

describe('the built site', () => {
  it('The built site begins with the landing page and its picture, in both themes and for narrow screens', () => {
    const pictures = [...read('index.html').matchAll(/(?:src|srcset)="(media\/flows-[\w-]+\.svg)"/g)]
    const paths = pictures.map(([, path = '']) => path)
    expect(paths).toHaveLength(4)
    expect(new Set(paths.map(read)).size).toBe(4)
  })

  it('The sidebar begins with the chapters, and has one entry for all decisions', () => {
    const sidebar = sidebarOf(site)
    expect(sidebar.map(({ text }) => text).slice(0, CHAPTERS.length)).toEqual(
      CHAPTERS.map((name) => readChapter(name).title),
    )
    expect(sidebar.find(({ text }) => text === 'Decisions')?.children).toBeUndefined()
    const built = readdirSync(join(site, 'decisions')).filter((name) => /^\d.*\.html$/.test(name))
    expect(built.length).toBeGreaterThan(0)
    const list = decodeURIComponent(read('decisions/index.html'))
    expect(built.filter((name) => !list.includes(`href="${name}"`))).toEqual([])
  })

  it.each(QUESTIONS)('The search for "$search" lists among the first three: $asks', ({ search, page, heading }) => {
    const found = searchOf(site)(search).map(({ url }) => url)
    expect(found.slice(0, 3)).toContain(`${page}.html`)
    expect(headingsOf(`${page}.html`).some((text) => text.includes(heading))).toBe(true)
  })

  it.each(['sms', 'timezone', 'budget', 'outbox', 'approval', 'webhook', 'digest', 'sendgrid'])(
    'The search for "%s" lists a guide before the reference of the code',
    (words) => {
      expect(searchOf(site)(words)[0]?.url).not.toMatch(/^api\//)
    },
  )

  it.each(['createSallyport', 'DispatchStore', 'WebhookOptions'])(
    'The search for the name %s lists it first',
    (name) => {
      expect(searchOf(site)(name)[0]?.url).toMatch(new RegExp(`^api/.*/${name}\\.html$`))
    },
  )

  it.each(QUESTIONS)('Two clicks from the first page lead to the page that answers: $asks', ({ page }) => {
    const first = linksOf('index.html')
    const second = first.flatMap((path) => linksOf(path))
    expect([...first, ...second]).toContain(`${page}.html`)
  })

  it('Words for the search are of pages that exist', () => {
    expect(Object.keys(SEARCH_WORDS).filter((path) => !existsSync(new URL(path, ROOT)))).toEqual([])
  })

  it('Every page has its Markdown beside it, whose links lead to other Markdown', () => {
    const guides = pages().filter((page) => !/^(?:api\/|index|modules|hierarchy)/.test(page))
    expect(guides.length).toBeGreaterThan(40)
    expect(guides.filter((page) => !existsSync(join(site, markdownOf(page))))).toEqual([])
    const broken = guides.flatMap((page) => {
      const targets = [...proseOf(read(markdownOf(page))).matchAll(/\]\((?!\w+:|#)([^)\s#]+)/g)].map(
        ([, link = '']) => link,
      )
      return targets.filter((link) => !existsSync(join(site, dirname(page), link))).map((link) => `${page}: ${link}`)
    })
    expect(broken).toEqual([])
  })

  it('llms.txt has a title, a summary, and every guide with a sentence about it', () => {
    const text = read('llms.txt')
    expect(text).toMatch(/^# Sallyport\n\n> \S.+\.\n\n/)
    const items = [...text.matchAll(/^- \[(.+)\]\((.+\.md)\): (\S.+[.!?])$/gm)]
    expect(items.length).toBe([...text.matchAll(/^- /gm)].length)
    expect(items.filter(([, , path = '']) => !existsSync(join(site, path)))).toEqual([])
    expect(items.map(([, , path]) => path)).toEqual(
      expect.arrayContaining(['delivery.md', 'channels/email.md', 'skill.md']),
    )
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
      const guides = pages().filter((page) => !/^(?:api|decisions)\//.test(page))
      const reference = ['api/sallyport.html', 'api/sallyport/createSallyport.html', 'api/sallyport/Channel.html']
      const paths = [...new Set([...guides, 'decisions/index.html', ...reference, ...diagrams])]
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
    'Pictures have the theme that the reader chose',
    async () => {
      const shown = await inBrowser(
        site,
        `const { document: page } = await show('index.html')
        const shown = {}
        for (const theme of ['dark', 'light']) {
          page.documentElement.dataset.theme = theme
          const picture = page.querySelector('img[src*="dispatch"]')
          shown[theme] = await until(() => picture.currentSrc.includes('dark') === (theme === 'dark') && picture.currentSrc)
        }
        await report(shown)`,
      )
      expect(shown).toEqual({
        dark: expect.stringMatching(/dispatch-dark[\w-]*\.png$/),
        light: expect.stringMatching(/dispatch[\w-]*\.png$/),
      })
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

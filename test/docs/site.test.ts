import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drawings } from '../../docs/pictures/drawings.ts'
import { CHAPTERS, readChapter } from '../../docs/site/portable.ts'
import { headingsOf, proseOf, withoutBlocks } from '../../docs/site/prose.ts'
import { ROOT, readJson } from '../support/entries.ts'

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

const guides = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('api/'))
  .map((path) => `docs/${path}`)
const LANDING = 'docs/site/landing.md'
const chapters = CHAPTERS.map((name) => `docs/site/${name}.md`)
const pages = guides.filter((path) => !path.startsWith('docs/site/'))
const decisions = pages.filter((path) => /^docs\/decisions\/\d/.test(path)).sort()

/** Relative links outside code. */
function linksOf(page: string): readonly string[] {
  return [...proseOf(read(page)).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link = '']) => link)
    .filter((link) => !/^[a-z]+:/.test(link))
}

/** Anchors of the headings, as GitHub names them. */
function anchorsOf(page: string): readonly string[] {
  return headingsOf(read(page)).map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function isBroken(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : posix.join(posix.dirname(page), path)
  if (!existsSync(new URL(target, ROOT))) return true
  return anchor !== undefined && !anchorsOf(target).includes(anchor)
}

describe('the site', () => {
  it('The site has the README and every guide in exactly one chapter', () => {
    expect(CHAPTERS.flatMap((name) => readChapter(name).pages.map(([, page]) => page)).sort()).toEqual(
      ['README.md', ...pages].sort(),
    )
  })

  it('The site shows every chapter and begins with the landing page', () => {
    const { projectDocuments, readme } = readJson('docs/typedoc.json')
    expect(projectDocuments.map((path: string) => `docs/${path}`)).toEqual(chapters)
    expect(guides.filter((path) => path.startsWith('docs/site/')).sort()).toEqual([LANDING, ...chapters].sort())
    expect(`docs/${readme}`).toBe(LANDING)
  })

  it("The site's own pages have at most 800 words", () => {
    const words = [LANDING, ...chapters].map((page) => read(page).match(/\S+/g)?.length ?? 0)
    expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(800)
  })
})

describe('the README', () => {
  const [, first = ''] = read('README.md').split('\n\n')

  it('The README begins with one sentence, about apps, agents, people and the record', () => {
    expect(first.match(/[.!?](?:\s|$)/g)).toHaveLength(1)
    for (const term of ['your app', 'agent', 'people', 'record']) expect(first).toContain(term)
  })

  it('The quick start is the first section of the README', () => {
    expect(/^## (.+)$/m.exec(read('README.md'))?.[1]).toBe('Quick start')
  })

  it('The README sends the reader to ten pages', () => {
    const [, section = ''] = read('README.md').split('## Where to go next\n')
    const [list = ''] = section.split('\n## ')
    expect(list.match(/^\d+\. \[/gm)).toHaveLength(10)
  })

  it('The README has at most 950 words', () => {
    expect(read('README.md').match(/\S+/g)?.length).toBeLessThanOrEqual(950)
  })
})

describe('a picture', () => {
  it.each([
    ['README.md', 'flows'],
    [LANDING, 'flows'],
    ['docs/approvals.md', 'approval'],
  ])('The picture has both themes, for wide and narrow screens, and an alternative text: %s', (page, prefix) => {
    const [picture = ''] = /<picture>.*?<\/picture>/s.exec(read(page)) ?? []
    const paths = [...picture.matchAll(/ src(?:set)?="([^"]+)"/g)].map(([, path = '']) => path)
    const drawn = [...drawings().keys()].filter((name) => name.startsWith(`${prefix}-`))
    expect(paths.map((path) => posix.basename(path)).sort()).toEqual(drawn.sort())
    expect(paths.filter((path) => !existsSync(new URL(posix.join(posix.dirname(page), path), ROOT)))).toEqual([])
    expect(picture).toMatch(/<img alt="[^"]{40,}"/)
  })

  it.each([...drawings()])('The picture equals the output of `npm run pictures`: %s', (name, svg) => {
    expect(read(`docs/pictures/${name}`)).toBe(svg)
  })
})

describe('a link', () => {
  it.each(['README.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md', ...guides])(
    'Every link has a target: %s',
    (page) => {
      expect(linksOf(page).filter((link) => isBroken(page, link))).toEqual([])
    },
  )

  it('The list of decisions links to every decision', () => {
    const linked = linksOf('docs/decisions/README.md').map((link) => posix.join('docs/decisions', link))
    expect(linked.filter((page) => decisions.includes(page)).sort()).toEqual(decisions)
  })

  it('The list of all pages links to every guide, or to a list with it', () => {
    const linked = linksOf('docs/README.md').map((link) => posix.join('docs', link.replace(/#.*/, '')))
    const listed = ['docs/decisions/README.md', 'docs/migrating/README.md', 'docs/figures.md'].flatMap((list) =>
      linksOf(list).map((link) => posix.join(posix.dirname(list), link)),
    )
    expect(pages.filter((page) => page !== 'docs/README.md' && ![...linked, ...listed].includes(page))).toEqual([])
  })
})

describe('a line', () => {
  it.each(['README.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md', ...guides])(
    'A line has at most 140 characters, outside code and targets of links: %s',
    (page) => {
      const prose = withoutBlocks(read(page))
        .replaceAll(/^\[[^\]]+\]: \S+$/gm, '')
        .replaceAll(/^## `.+`$/gm, '')
        .replaceAll(/^ *<.*>$|^!\[.*\]\(.*\)$/gm, '')
      expect(prose.split('\n').filter((line) => line.length > 140)).toEqual([])
    },
  )

  it.each(['README.md', ...guides])('A line of code fits the site at 1,280 pixels: %s', (page) => {
    const code = [...read(page).matchAll(/^```(?:ts|tsx|js)\n(.*?)^```$/gms)].map(([, block = '']) => block)
    // A text in a template literal cannot be broken.
    expect(
      code
        .join('')
        .split('\n')
        .filter((line) => line.length > 101 && !line.includes('`')),
    ).toEqual([])
  })
})

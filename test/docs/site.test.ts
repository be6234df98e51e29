import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drawings } from '../../docs/pictures/drawings.ts'
import { ROOT, readJson } from '../support/entries.ts'

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

const guides = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('api/'))
  .map((path) => `docs/${path}`)
const LANDING = 'docs/site/landing.md'
const chapters = guides.filter((path) => path.startsWith('docs/site/') && path !== LANDING)
const pages = guides.filter((path) => !path.startsWith('docs/site/'))
const decisions = pages.filter((path) => /^docs\/decisions\/\d/.test(path)).sort()

/** The pages of a chapter, as its front matter lists them: with titles, or without. */
function childrenOf(chapter: string): readonly string[] {
  const [, front = ''] = read(chapter).split('---\n')
  return [...front.matchAll(/^ {2}(?:- |.+: )(\.\.\/\S+)$/gm)].map(([, path = '']) =>
    posix.join(posix.dirname(chapter), path),
  )
}

/** Links to files of ours, without those within code. */
function linksOf(page: string): readonly string[] {
  const prose = read(page)
    .replaceAll(/^```.*?^```$/gms, '')
    .replaceAll(/`[^`\n]*`(?!\])/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link))
}

/** What a link goes to, as GitHub names headings. */
function anchorsOf(page: string): readonly string[] {
  const headings = read(page)
    .replaceAll(/^```.*?^```$/gms, '')
    .matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading = '']) =>
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
  it('has the README and every guide in one chapter', () => {
    expect(chapters.flatMap(childrenOf).sort()).toEqual(['README.md', ...pages].sort())
  })

  it('shows every chapter, and begins with the landing page', () => {
    const { projectDocuments, readme } = readJson('docs/typedoc.json')
    expect(projectDocuments.map((path: string) => `docs/${path}`).sort()).toEqual([...chapters].sort())
    expect(`docs/${readme}`).toBe(LANDING)
  })

  it('takes at most 600 words for its own pages', () => {
    const words = [LANDING, ...chapters].map((page) => read(page).match(/\S+/g)?.length ?? 0)
    expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(600)
  })
})

describe('the README', () => {
  const [, first = ''] = read('README.md').split('\n\n')

  it.each(['notifications', 'retries', 'delivery status', 'agent runs'])('opens with %s', (term) => {
    expect(first).toContain(term)
  })

  it('has at most 1,100 words', () => {
    expect(read('README.md').match(/\S+/g)?.length).toBeLessThanOrEqual(1_100)
  })

  it.each(['README.md', LANDING])('shows the picture in both themes, with a text in its place: %s', (page) => {
    const [picture = ''] = /<picture>.*?<\/picture>/s.exec(read(page)) ?? []
    const paths = [...picture.matchAll(/ src(?:set)?="([^"]+)"/g)].map(([, path = '']) => path)
    expect(paths.map((path) => posix.basename(path)).sort()).toEqual([...drawings().keys()].sort())
    expect(paths.filter((path) => !existsSync(new URL(posix.join(posix.dirname(page), path), ROOT)))).toEqual([])
    expect(picture).toMatch(/<img alt="[^"]{40,}"/)
  })
})

describe('a picture', () => {
  it.each([...drawings()])('is what `npm run pictures` draws: %s', (name, svg) => {
    expect(read(`docs/pictures/${name}`)).toBe(svg)
  })
})

describe('a link', () => {
  it.each(['README.md', '.github/CONTRIBUTING.md', '.github/SECURITY.md', ...guides])(
    'leads somewhere, in %s',
    (page) => {
      expect(linksOf(page).filter((link) => isBroken(page, link))).toEqual([])
    },
  )

  it('leads to every decision from their list', () => {
    const linked = linksOf('docs/decisions/README.md').map((link) => posix.join('docs/decisions', link))
    expect(linked.filter((page) => decisions.includes(page)).sort()).toEqual(decisions)
  })

  it('leads from the README to every guide, or to the list that it is in', () => {
    const linked = linksOf('README.md')
    const listed = ['docs/decisions/README.md', 'docs/hosts/README.md', 'docs/runtimes/README.md'].flatMap((list) =>
      linksOf(list).map((link) => posix.join(posix.dirname(list), link)),
    )
    expect(pages.filter((page) => !linked.includes(page) && !listed.includes(page))).toEqual([])
  })
})

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT, readJson } from '../support/entries.ts'

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

const guides = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.md') && !path.startsWith('api/'))
  .map((path) => `docs/${path}`)
const chapters = guides.filter((path) => path.startsWith('docs/site/'))
const pages = guides.filter((path) => !chapters.includes(path))

/** The pages of a chapter with their titles, as its front matter lists them. */
function childrenOf(chapter: string): (readonly [title: string, page: string])[] {
  const [, front = ''] = read(chapter).split('---\n')
  return [...front.matchAll(/^ {2}(?:"(.+)"|([^"].*)): (\.\.\/\S+)$/gm)].map(([, quoted, plain = '', path = '']) => [
    quoted ?? plain,
    posix.join(posix.dirname(chapter), path),
  ])
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
  it('has every guide in one chapter', () => {
    expect(chapters.flatMap((chapter) => childrenOf(chapter).map(([, page]) => page)).sort()).toEqual([...pages].sort())
  })

  it('shows every chapter', () => {
    const shown: string[] = readJson('docs/typedoc.json').projectDocuments
    expect(shown.map((path) => `docs/${path}`).sort()).toEqual([...chapters].sort())
  })

  it('calls every decision what it calls itself', () => {
    const [, ...children] = childrenOf('docs/site/decisions.md')
    const titles = children.map(([, page]) => [/^# (.+)$/m.exec(read(page))?.[1]?.replaceAll('`', ''), page])
    expect(children).toEqual(titles)
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
    const [list, ...decisions] = childrenOf('docs/site/decisions.md').map(([, page]) => page)
    const linked = linksOf(list ?? '').map((link) => posix.join('docs/decisions', link))
    expect(linked).toEqual(decisions)
  })

  it('leads from the README to every guide, or to the list that it is in', () => {
    const linked = linksOf('README.md')
    const listed = ['docs/decisions/README.md', 'docs/hosts/README.md', 'docs/runtimes/README.md'].flatMap((list) =>
      linksOf(list).map((link) => posix.join(posix.dirname(list), link)),
    )
    expect(pages.filter((page) => !linked.includes(page) && !listed.includes(page))).toEqual([])
  })
})

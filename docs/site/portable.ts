/** The pages of the docs as Markdown that stands alone: on the site beside its HTML, and in the package. */
import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { SUMMARIES } from './summaries.ts'

const ROOT = new URL('../../', import.meta.url)

/** Where a file of the repository stands in a set of pages, such as `hosts.md`; `undefined` if it is not in it. */
export type Placed = (path: string) => string | undefined

/** The chapters of the site, in order, each with its title and its pages by title. */
export interface Chapter {
  readonly title: string
  readonly pages: readonly (readonly [title: string, page: string])[]
}

export const CHAPTERS = ['start', 'notifications', 'agents', 'production', 'reference', 'inside', 'decisions'] as const

/** Parts of `docs/` that only people who change Sallyport need: they are on the site, and not in the package. */
const NOT_SHIPPED = /^docs\/(?:decisions|figures|site)\/|^docs\/(?:architecture|storage)\.md$/

/** The place of a page in the package, below `dist/docs`. */
const inPackage: Placed = (path) => {
  if (path === 'README.md') return 'quick-start.md'
  return /^docs\/.+\.md$/.test(path) && !NOT_SHIPPED.test(path) ? path.replace('docs/', '') : undefined
}

/** The files of `dist/docs`, by their names. */
export function packageDocs(): ReadonlyMap<string, string> {
  const pages = readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .map((path) => `docs/${path}`)
    .concat('README.md')
    .flatMap((path) => {
      const place = inPackage(path)
      return place === undefined ? [] : [[place, portable(path, inPackage)] as const]
    })
  return new Map([...pages, ['llms.txt', llmsText(inPackage)]])
}

/**
 * A page with links to the pages of the set. Another link becomes its text, or goes with the parentheses or the place in a list of pages that
 * hold nothing else. A picture becomes its alternative text.
 *
 * @param path Its path from the root.
 */
export function portable(path: string, placed: Placed): string {
  const from = posix.dirname(placed(path) ?? '')
  const relink = (whole: string, text: string, link: string): string => {
    if (/^[a-z]+:/.test(link)) return whole
    const [file = '', anchor] = link.split('#')
    const target = file === '' ? path : posix.join(posix.dirname(path), file)
    const place = placed(target)
    if (place === undefined || (target === path && anchor === undefined)) return text
    const relative = target === path ? '' : posix.relative(from, place)
    return `[${text}](${relative}${anchor === undefined ? '' : `#${anchor}`})`
  }
  const isGone = (link: string): boolean =>
    !/^(?:[a-z]+:|#)/.test(link) && placed(posix.join(posix.dirname(path), link.replace(/#.*/, ''))) === undefined
  return outsideCode(bodyOf(path), (prose) =>
    withoutAsides(prose, isGone)
      .replaceAll(/<picture>.*?<img alt="([^"]*)".*?<\/picture>/gs, '*$1*')
      .replaceAll(/!\[([^\]]*)\]\([^)]*\)/g, '*$1*')
      .replaceAll(/\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)/g, relink),
  )
}

/** Text without links that say nothing as text alone: in parentheses of their own, and in lists of what to read next. */
function withoutAsides(prose: string, isGone: (link: string) => boolean): string {
  const keep = (whole: string, link: string): string => (isGone(link) ? '' : whole)
  return prose
    .replaceAll(/\s\(\[[^\]]*\]\(([^)\s]+)\)\)/g, keep)
    .replaceAll(/^Next: .+$/gm, (line) =>
      line.replaceAll(/\[[^\]]*\]\(([^)\s]+)\)(?:, |(?=\.))/g, keep).replace(/, \.$/, '.'),
    )
}

/** The list of pages by https://llmstxt.org: a title, a summary, and each guide with a sentence about it. */
export function llmsText(placed: Placed): string {
  const [title = '', summary = '', about = ''] = bodyOf('README.md').split('\n\n')
  const chapters = CHAPTERS.filter((name) => name !== 'decisions')
    .map(readChapter)
    .flatMap(({ title, pages }) => {
      const items = pages.flatMap(([name, page]) => {
        const place = page in SUMMARIES ? placed(page) : undefined
        return place === undefined ? [] : [`- [${name}](${place}): ${SUMMARIES[page]}`]
      })
      return items.length === 0 ? [] : [`## ${title}`, items.join('\n')]
    })
  return `${[title, `> ${inOneLine(summary)}`, inOneLine(about), ...chapters].join('\n\n')}\n`
}

/** A chapter from the front matter of its page. */
export function readChapter(name: string): Chapter {
  const [, front = ''] = read(`docs/site/${name}.md`).split('---\n')
  const children = [...front.matchAll(/^ {2}(?:- |"?(.+?)"?: )(\.\.\/\S+)$/gm)]
  const pages = children.map(([, title, link = '']) => {
    const page = posix.join('docs/site', link)
    return [title ?? headingOf(page), page] as const
  })
  return { title: /^title: (.+)$/m.exec(front)?.[1] ?? name, pages }
}

function headingOf(page: string): string {
  return /^# (.+)$/m.exec(read(page))?.[1] ?? page
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** The Markdown of a page without its front matter. */
function bodyOf(page: string): string {
  return read(page).replace(/^---\n.*?\n---\n\s*/s, '')
}

/** Changes the text that is not in a block of code. */
function outsideCode(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```.*?^```$)/gms)
    .map((part) => (part.startsWith('```') ? part : change(part)))
    .join('')
}

function read(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}

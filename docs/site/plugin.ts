/** The TypeDoc plugin of this site. */
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  type Application,
  Converter,
  type DocumentReflection,
  type ProjectReflection,
  type Reflection,
  Renderer,
  StructureRouter,
} from 'typedoc'
import { llmsText, type Placed, portable } from './portable.ts'
import { headingsOf } from './prose.ts'
import { SEARCH_WORDS } from './search-words.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Gives pages the paths of their Markdown, and puts the reference of the code in a folder of its own; lets the search find guides first; and
 * writes the Markdown of each page beside it, a list of all pages for agents, and the library that draws diagrams.
 */
export function load(app: Application): void {
  app.renderer.defineRouter('docs', DocsRouter)
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, page: DocumentReflection) => {
    if (page.parent?.name === 'Decisions') page.name = headingsOf(textOf(page))[0] ?? page.name
    page.relevanceBoost = boostOf(pathOf(page, page.project))
  })
  app.renderer.on(Renderer.EVENT_PREPARE_INDEX, (index) => {
    Object.assign(index.searchFieldWeights, { words: 60, headings: 10, document: 3 })
    for (const [at, result] of index.searchResults.entries()) {
      if (!result.isDocument()) continue
      const path = pathOf(result, result.project)
      index.searchFields[at] = {
        words: SEARCH_WORDS[path] ?? '',
        headings: headingsOf(textOf(result)).join('\n'),
        document: withoutPaths(textOf(result)),
      }
    }
  })
  app.renderer.on(Renderer.EVENT_END, ({ outputDirectory, project }) => {
    const write = (file: string, text: string): void => {
      const path = join(outputDirectory, file)
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
    }
    const pages = documentsOf(project).map((page) => pathOf(page, project))
    const onSite: Placed = (path) => (pages.includes(path) ? `${placeOf(path)}.md` : undefined)
    for (const page of pages) write(`${placeOf(page)}.md`, portable(page, onSite))
    write('llms.txt', llmsText(onSite))
    copyFileSync(fileURLToPath(import.meta.resolve('@mermaid-js/tiny')), join(outputDirectory, 'assets', 'mermaid.js'))
  })
}

/** Guides come before what they cite: reasons, figures, other products, lists. */
function boostOf(path: string): number {
  if (/^docs\/(?:decisions|figures)\//.test(path)) return 0.05
  return /^docs\/(?:migrating\/|site\/|README|options|skill|glossary)/.test(path) ? 0.2 : 1
}

/** Pages of `docs/` keep their paths: `channels/email.html` is `docs/channels/email.md`. */
class DocsRouter extends StructureRouter {
  override getIdealBaseName(reflection: Reflection): string {
    if (!reflection.isDocument()) return `api/${super.getIdealBaseName(reflection)}`
    return placeOf(pathOf(reflection, reflection.project))
  }
}

function documentsOf(project: ProjectReflection): readonly DocumentReflection[] {
  return Object.values(project.reflections).filter((reflection) => reflection.isDocument())
}

/** The path of a page from the root of the repository. */
function pathOf(page: DocumentReflection, project: ProjectReflection): string {
  const path = project.files.getReflectionPath(page)
  if (path === undefined) throw new Error(`${page.name} has no file`)
  return relative(ROOT, path)
}

/** The place of a page on the site, without an extension. */
function placeOf(path: string): string {
  if (path === 'README.md') return 'quick-start'
  return path
    .replace(/^docs\/(?:site\/)?/, '')
    .replace(/(^|\/)README\.md$/, '$1index')
    .replace(/\.md$/, '')
    .replace(/^index$/, 'all-pages')
}

/** The Markdown of a page. */
function textOf(page: DocumentReflection): string {
  return page.content.map((part) => part.text).join('')
}

/** Text without link targets and paths of our files: a page that names many tests is not about testing. */
function withoutPaths(text: string): string {
  return text
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/^\[[^\]]+\]: \S+$/gm, '')
    .replaceAll(/`(?:src|test)\/[^`]*`/g, '')
}

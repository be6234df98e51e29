/** The TypeDoc plugin of this site. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Converter, Renderer } from 'typedoc'

/** Titles decisions by their headings, lets the search weigh headings and skip paths, and copies the library that draws diagrams. */
export function load(app) {
  app.converter.on(Converter.EVENT_CREATE_DOCUMENT, (_context, page) => {
    if (page.parent?.name !== 'Decisions') return
    page.name = headingsOf(page)[0] ?? page.name
    // Guides come before the reasons for them.
    page.relevanceBoost = 0.1
  })
  app.renderer.on(Renderer.EVENT_PREPARE_INDEX, (index) => {
    Object.assign(index.searchFieldWeights, { headings: 10, document: 3 })
    for (const [at, result] of index.searchResults.entries()) {
      if (!result.isDocument()) continue
      index.searchFields[at] = { headings: headingsOf(result).join('\n'), document: withoutPaths(textOf(result)) }
    }
  })
  app.renderer.on(Renderer.EVENT_END, ({ outputDirectory }) => {
    const library = fileURLToPath(import.meta.resolve('@mermaid-js/tiny'))
    copyFileSync(library, join(outputDirectory, 'assets', 'mermaid.js'))
  })
}

/** The Markdown of a page. */
function textOf(page) {
  return page.content.map((part) => part.text).join('')
}

/** Text without link targets and paths of our files: a page that names many tests is not about testing. */
function withoutPaths(text) {
  return text
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/^\[[^\]]+\]: \S+$/gm, '')
    .replaceAll(/`(?:src|test)\/[^`]*`/g, '')
}

/** The headings of a page, without those within code. */
function headingsOf(page) {
  const prose = textOf(page).replaceAll(/^```.*?^```$/gms, '')
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading.replaceAll('`', ''))
}

import { readFileSync } from 'node:fs'
import { ROOT } from './entries.ts'

/**
 * The one code block of a page, or of one of its sections, that contains a text: `documented('docs/operating.md', 'postgresQueue({')`.
 *
 * @param page Its path from the root.
 * @param heading Heading of the section, which ends at the next heading of any level. Default: the whole page.
 */
export function documented(page: string, text: string, heading?: string): string {
  const found = blocks(page, heading).filter((code) => code.includes(text))
  const [only] = found
  const place = heading === undefined ? page : `${page}, ${heading},`
  if (only === undefined || found.length > 1) throw new Error(`${place} has ${found.length} blocks with ${text}`)
  return only
}

function blocks(page: string, heading: string | undefined): readonly string[] {
  const whole = readFileSync(new URL(page, ROOT), 'utf8')
  const text = heading === undefined ? whole : sectionOf(whole, heading)
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code)
}

function sectionOf(page: string, heading: string): string {
  const sections = page.split(/^#{2,} /m).filter((section) => section.startsWith(`${heading}\n`))
  const [only = ''] = sections
  if (sections.length !== 1) throw new Error(`the page has ${sections.length} sections ${heading}`)
  return only
}

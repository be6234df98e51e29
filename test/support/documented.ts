import { readFileSync } from 'node:fs'
import { ROOT } from './entries.ts'

/**
 * The one code block of a page that contains a text: `documented('docs/operating.md', 'postgresQueue({')`.
 *
 * @param page Its path from the root.
 */
export function documented(page: string, text: string): string {
  const found = blocks(page).filter((code) => code.includes(text))
  const [only] = found
  if (only === undefined || found.length > 1) throw new Error(`${page} has ${found.length} blocks with ${text}`)
  return only
}

function blocks(page: string): readonly string[] {
  const text = readFileSync(new URL(page, ROOT), 'utf8')
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code)
}

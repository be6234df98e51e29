import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { ROOT } from '../support/entries.ts'

const FOLDER = 'docs/migrating/'

/** Of this process alone. Git ignores it. */
const SCRATCH = fileURLToPath(new URL(`test/docs/.snippets-${randomUUID()}/`, ROOT))

/** The pages about one system each. */
export const PAGES: readonly string[] = readdirSync(new URL(FOLDER, ROOT)).filter(
  (name) => name.endsWith('.md') && name !== 'README.md',
)

export function readPage(name: string): string {
  return readFileSync(new URL(FOLDER + name, ROOT), 'utf8')
}

/** The code of a page below one of its headings. */
export function codeBelow(name: string, heading: string): readonly string[] {
  const [, below = ''] = readPage(name).split(`\n## ${heading}\n`)
  const [part = ''] = below.split('\n## ')
  return [...part.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code)
}

let files = 0

/** Writes a module to a file of its own and returns the path. */
export function writeModule(code: string, extension: 'js' | 'ts'): string {
  mkdirSync(SCRATCH, { recursive: true })
  const file = `${SCRATCH}${++files}.${extension}`
  writeFileSync(file, code)
  return file
}

// biome-ignore lint/suspicious/noExplicitAny: the exports of a page's module are what its test says.
export async function runModule(code: string, extension: 'js' | 'ts'): Promise<any> {
  return import(writeModule(code, extension))
}

/** Runs the module below `After` of a page. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
export async function codeAfter(page: string, at = 0): Promise<any> {
  return runModule(codeBelow(page, 'After')[at] ?? '', 'ts')
}

export function removeModules(): void {
  rmSync(SCRATCH, { recursive: true, force: true })
}

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { ROOT } from '../support/entries.ts'

/** The paths of tests in a page's Markdown, each once. */
export function testsNamedIn(page: string): readonly string[] {
  return [...new Set([...page.matchAll(/`(test\/[^`]+)`/g)].map(([, path = '']) => path))]
}

/** The named paths that are neither a test file nor a folder with TypeScript files. */
export function missingTests(page: string): readonly string[] {
  return testsNamedIn(page).filter((path) => !hasTests(path))
}

function hasTests(path: string): boolean {
  const found = statSync(new URL(path, ROOT), { throwIfNoEntry: false })
  if (!found?.isDirectory()) return found !== undefined && /\b(?:it|test|describe)\b/.test(read(path))
  const files = readdirSync(new URL(path, ROOT), { recursive: true, encoding: 'utf8' })
  return path.endsWith('/') && files.some((file) => file.endsWith('.ts'))
}

const read = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

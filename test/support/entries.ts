import { readFileSync } from 'node:fs'
import { ENTRIES } from '../package/entries.ts'

/** The package's root folder. */
export const ROOT: URL = new URL('../../', import.meta.url)

/** The public entries, such as `sallyport/auth`, with their source files. */
export function entries(): ReadonlyMap<string, string> {
  return new Map(Object.entries(ENTRIES).map(([entry, { source }]) => [entry, source]))
}

/** Reads a JSON file of the package, by its path from the root. */
export function readJson(file: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(readFileSync(new URL(file, ROOT), 'utf8'))
}

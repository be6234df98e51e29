import { readFileSync } from 'node:fs'

/** The package's root folder. */
export const ROOT: URL = new URL('../../', import.meta.url)

/** The public entries, such as `sallyport/auth`, with their source files, from the `paths` of `tsconfig.json`. */
export function entries(): ReadonlyMap<string, string> {
  const { compilerOptions } = readJson('tsconfig.json')
  const paths = Object.entries<string[]>(compilerOptions.paths)
  return new Map(paths.map(([entry, [file = '']]) => [entry, file.replace('./', '')]))
}

/** Reads a JSON file of the package, by its path from the root. */
export function readJson(file: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(readFileSync(new URL(file, ROOT), 'utf8'))
}

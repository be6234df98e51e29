import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Maps the package's entries to source, as `tsconfig.json` does, for runners that do not read it. */
export function aliases(): { find: RegExp; replacement: string }[] {
  const root = new URL('../../', import.meta.url)
  const { compilerOptions } = JSON.parse(readFileSync(new URL('tsconfig.json', root), 'utf8'))
  return Object.entries<string[]>(compilerOptions.paths).map(([entry, [file = '']]) => ({
    find: new RegExp(`^${entry}$`),
    replacement: fileURLToPath(new URL(file, root)),
  }))
}

import { fileURLToPath } from 'node:url'
import { entries, ROOT } from './entries.ts'

/** Maps the package's entries to source, as `tsconfig.json` does, for runners that do not read it. */
export function aliases(): { find: RegExp; replacement: string }[] {
  return [...entries()].map(([entry, file]) => ({
    find: new RegExp(`^${entry}$`),
    replacement: fileURLToPath(new URL(file, ROOT)),
  }))
}

/** Writes what the docs repeat from the code: `npm run derive`. */
import { readFile, writeFile } from 'node:fs/promises'
import { ROOT } from '../support/entries.ts'
import { DERIVED } from './derived.ts'

for (const [path, derived] of Object.entries(DERIVED)) {
  const file = new URL(path, ROOT)
  await writeFile(file, derived(await readFile(file, 'utf8')))
}

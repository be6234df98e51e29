/** Writes what the docs repeat from the code: `npm run derive`. */
import { readFile, writeFile } from 'node:fs/promises'
import { ROOT } from '../support/entries.ts'
import { DERIVED } from './derived.ts'

for (const [path, derived] of Object.entries(DERIVED)) {
  const file = new URL(path, ROOT)
  // `a+` creates a new one.
  await writeFile(file, derived(await readFile(file, { encoding: 'utf8', flag: 'a+' })))
}

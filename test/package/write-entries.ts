/** Writes the files that repeat a part of the list of entries: `npm run entries`. */
import { readFile, writeFile } from 'node:fs/promises'
import { ROOT } from '../support/entries.ts'
import { ENTRY_FILES } from './entry-files.ts'

for (const [path, written] of Object.entries(ENTRY_FILES)) {
  const file = new URL(path, ROOT)
  await writeFile(file, written(await readFile(file, 'utf8')))
}

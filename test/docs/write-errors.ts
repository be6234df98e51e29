/** Writes the texts of `src/code-texts.ts` to `docs/errors.md`: `npm run errors`. */
import { readFile, writeFile } from 'node:fs/promises'
import { withCodeTexts } from './error-sections.ts'

const PAGE = new URL('../../docs/errors.md', import.meta.url)
await writeFile(PAGE, withCodeTexts(await readFile(PAGE, 'utf8')))

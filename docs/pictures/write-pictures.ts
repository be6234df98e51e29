/** `npm run pictures`: draws the pictures of the README, the guides and the site, and writes them beside this file. */
import { writeFileSync } from 'node:fs'
import { drawings } from './drawings.ts'

for (const [name, svg] of drawings()) {
  writeFileSync(new URL(name, import.meta.url), svg)
  console.log(`docs/pictures/${name}`)
}

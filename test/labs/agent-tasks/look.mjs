/**
 * Reads the docs and types of the installed package up to 60,000 characters in all, and counts them in `.read`:
 *
 * - `node look.mjs` lists the files.
 * - `node look.mjs FILE [LINE [LINES]]` prints lines of a file, by default the first 150.
 * - `node look.mjs --find PATTERN` prints the first 40 lines that match.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LIMIT = 60_000
const PACKAGE = 'node_modules/sallyport'
const COUNT = '.read'

const isReadable = (file) => /\.(?:d\.ts|md|txt)$/.test(file)
const linesOf = (file) => readFileSync(join(PACKAGE, file), 'utf8').split('\n')
const files = () => readdirSync(PACKAGE, { recursive: true }).filter(isReadable).sort()

function find(pattern) {
  const matching = new RegExp(pattern, 'i')
  const found = files().flatMap((file) =>
    linesOf(file).flatMap((line, at) => (matching.test(line) ? `${file}:${at + 1}: ${line.slice(0, 200)}` : [])),
  )
  return found.slice(0, 40)
}

function read(file, line = 1, count = 150) {
  if (!isReadable(file)) return ['only .d.ts, .md and .txt']
  return linesOf(file).slice(line - 1, line - 1 + count)
}

const [first, second, third] = process.argv.slice(2)
const lines =
  first === undefined
    ? files()
    : first === '--find'
      ? find(second)
      : read(first, Number(second ?? 1), Number(third ?? 150))
const text = lines.join('\n')
const used = (existsSync(COUNT) ? Number(readFileSync(COUNT, 'utf8')) : 0) + text.length
if (used > LIMIT) {
  console.error(`refused: ${text.length} characters, and ${LIMIT - used + text.length} are left`)
  process.exitCode = 1
} else {
  writeFileSync(COUNT, `${used}`)
  console.log(`${text}\n-- ${LIMIT - used} characters are left`)
}

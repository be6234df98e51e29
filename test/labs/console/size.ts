import { gzipSync } from 'node:zlib'
import { buildConsole } from '../../../tsup.config.ts'

/** Prints what the console loads: first load, and what a plot adds. */
const { files, script, style } = await buildConsole()
const rows = Object.entries(files).map(([name, text]) => ({ name, bytes: gzipSync(text, { level: 9 }).byteLength }))
const isFirst = (name: string): boolean => name === script || name === style || isImported(name)
const first = rows.filter(({ name }) => isFirst(name)).reduce((sum, { bytes }) => sum + bytes, 0)
for (const { name, bytes } of rows)
  console.log(`${String(bytes).padStart(7)} B gzipped  ${name}${isFirst(name) ? '' : '  (on demand)'}`)
console.log(`${String(first).padStart(7)} B gzipped  first load, at most 46080`)
process.exitCode = first > 46_080 ? 1 : 0

/** True for a chunk that the script imports at once. */
function isImported(name: string): boolean {
  return new RegExp(`from\\s*"\\./${name.replaceAll('.', '\\.')}"|import\\s*"\\./${name.replaceAll('.', '\\.')}"`).test(
    files[script] ?? '',
  )
}

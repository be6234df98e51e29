/** `npm run figures` prints the amount of source and documentation. `-- --list` names the counted files and names. */
import { executedFiles } from './executed-files.ts'
import { linesOfCustomStores, linesOfSource, namesExportedTwice, wordsOfDocs } from './source-figures.ts'
import { sqliteHost } from './sqlite-host.ts'

const isListed = process.argv.includes('--list')

function print(what: string, count: number, names: readonly string[] = []): void {
  console.log(`${what}: ${count}`)
  if (isListed) for (const name of names) console.log(`  ${name}`)
}

const host = await sqliteHost()
try {
  for (const [what, work] of Object.entries(host.works)) {
    const files = await executedFiles(work)
    print(`files executed by one ${what} on SQLite`, files.length, files)
  }
} finally {
  await host.close()
}

const twice = await namesExportedTwice()
print('lines of src', await linesOfSource())
print(
  'exported names declared in two or more files',
  twice.size,
  [...twice].map(([name, paths]) => `${name}: ${paths.join(', ')}`),
)
print('words of README and docs', await wordsOfDocs())
for (const [name, lines] of await linesOfCustomStores()) print(`lines of docs/examples/${name}`, lines)

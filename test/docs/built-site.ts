import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import { execute } from '../package/tarball.ts'
import { ROOT } from '../support/entries.ts'

/** A row of the search index. */
interface Row {
  readonly name: string
  readonly url: string
}

/** An entry of the sidebar. */
export interface Entry {
  readonly text: string
  readonly path?: string
  readonly children?: readonly Entry[]
}

const typedoc = fileURLToPath(import.meta.resolve('typedoc'))
const lunr = createRequire(typedoc)('lunr')

/** The site in a folder. */
export interface Site {
  readonly folder: string
  remove(): void
}

/** Builds the site into a temporary folder, or takes the one in SALLYPORT_SITE. */
export async function buildSite(): Promise<Site> {
  if (process.env.SALLYPORT_SITE) return { folder: process.env.SALLYPORT_SITE, remove() {} }
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-site-'))
  const program = join(dirname(typedoc), '../bin/typedoc')
  const args = [program, '--options', 'docs/typedoc.json', '--skipErrorChecking', '--out', folder]
  await execute({ cwd: fileURLToPath(ROOT) }, process.execPath, ...args)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The entries of the sidebar, outermost first. */
export function sidebarOf(site: string): readonly Entry[] {
  return unpack(site, 'navigation.js') as readonly Entry[]
}

/** Searches like the field at the top of a page: by parts of words. Gives the listed pages, best first. */
export function searchOf(site: string): (words: string) => readonly Row[] {
  const { rows, index } = unpack(site, 'search.js') as { rows: readonly Row[]; index: object }
  const loaded = lunr.Index.load(index)
  return (words) => {
    const query = words.replaceAll(/\S+/g, '*$&*')
    const found: readonly { ref: string; score: number }[] = loaded.search(query)
    const scored = found.map(({ ref, score }) => {
      const row = rows[Number(ref)] ?? { name: '', url: '' }
      const begins = row.name.toLowerCase().startsWith(words.toLowerCase())
      return { row, score: begins ? (score * 10) / (1 + Math.abs(row.name.length - words.length)) : score }
    })
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, 10)
      .map(({ row }) => row)
  }
}

/** Unpacks the data of a script that assigns one compressed text. */
function unpack(site: string, script: string): unknown {
  const [, packed = ''] = /"([^"]+)"/.exec(readFileSync(join(site, 'assets', script), 'utf8')) ?? []
  return JSON.parse(inflateSync(Buffer.from(packed, 'base64')).toString())
}

import { readFileSync } from 'node:fs'
import { withoutBlocks } from '../../docs/site/prose.ts'
import { ROOT } from '../support/entries.ts'

/** A table of a page, with the texts of its cells as they are written. */
interface PageTable {
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/**
 * The tables of a page whose first column has a title.
 *
 * @param page Its path from the root.
 */
export function tablesOf(page: string, title: string): readonly PageTable[] {
  const prose = withoutBlocks(readFileSync(new URL(page, ROOT), 'utf8'))
  const tables = [...prose.matchAll(/(?:^\|.*\|\n)+/gm)].map(([lines]) => tableOf(lines.trimEnd().split('\n')))
  return tables.filter(({ head }) => head[0] === title)
}

/** The names in the first column of such tables, without backticks. */
export function namesIn(page: string, title: string): readonly string[] {
  return tablesOf(page, title).flatMap(({ rows }) => rows.map(([name = '']) => name.replaceAll('`', '')))
}

function tableOf([head = '', , ...rows]: readonly string[]): PageTable {
  return { head: cellsOf(head), rows: rows.map(cellsOf) }
}

function cellsOf(row: string): readonly string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

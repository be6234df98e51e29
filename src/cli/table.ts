import type { Terminal } from './terminal.ts'

/** One row: texts by column. */
export type Row = Readonly<Record<string, string | number | undefined>>

/**
 * Prints rows: aligned and with a header for a person; separated by tabs, without a header, for a program. Control characters in values
 * become `?`: a value may come from a caller and must not drive a terminal or add a line.
 */
export function printRows(columns: readonly string[], rows: readonly Row[], terminal: Terminal): void {
  const texts = rows.map((row) => columns.map((column) => printable(row[column])))
  if (!terminal.isInteractive) {
    for (const line of texts) terminal.out(`${line.join('\t')}\n`)
    return
  }
  const lines = [columns.map((column) => column.toUpperCase()), ...texts]
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  for (const line of lines) {
    const padded = line.map((text, at) => (at === line.length - 1 ? text : text.padEnd(widths[at] ?? 0)))
    terminal.out(`${padded.join('  ').trimEnd()}\n`)
  }
}

/** Prints a row for each count. */
export function printCounts(title: string, counts: Readonly<Record<string, number>>, terminal: Terminal): void {
  const rows = Object.entries(counts).map(([name, count]) => ({ [title]: name, count }))
  printRows([title, 'count'], rows, terminal)
}

export function printJson(value: unknown, terminal: Terminal): void {
  const text = JSON.stringify(value, null, terminal.isInteractive ? 2 : undefined)
  terminal.out(`${text.replace(UNSAFE, escaped)}\n`)
}

/** Characters that drive a terminal, end a line or change the direction of text, apart from the first 32, which JSON escapes. */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** A value without characters that drive a terminal. */
export function printable(value: string | number | undefined): string {
  if (value === undefined) return '-'
  return String(value).replace(UNSAFE, '?').replace(CONTROL, '?')
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are replaced.
const CONTROL = /[\u0000-\u001f]/g

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
  terminal.out(`${JSON.stringify(value, null, terminal.isInteractive ? 2 : undefined)}\n`)
}

function printable(value: string | number | undefined): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these are replaced.
  return value === undefined ? '-' : String(value).replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')
}

/** One line of a CSV file, by the names of its columns. */
export type CsvRow = Readonly<Record<string, string>>

/**
 * Reads CSV (RFC 4180) with a header line. Column names are compared in lower case with `_` for spaces. Takes linear time. A line with
 * more or fewer fields than the header, or a quote in the wrong place, gives `undefined`.
 */
export function readCsv(text: string): readonly (CsvRow | undefined)[] {
  const [header, ...lines] = linesOf(text.startsWith('\uFEFF') ? text.slice(1) : text)
  if (!header) return []
  const names = header.map((name) => name.trim().toLowerCase().replaceAll(/[ -]/g, '_'))
  return lines.map((fields) =>
    fields && fields.length === names.length
      ? Object.fromEntries(names.map((name, at) => [name, fields[at] ?? '']))
      : undefined,
  )
}

/** `undefined`: a malformed line. Empty lines are left out. */
function linesOf(text: string): readonly (readonly string[] | undefined)[] {
  const lines: (readonly string[] | undefined)[] = []
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y
  let fields: string[] = []
  while (field.lastIndex < text.length) {
    const start = field.lastIndex
    const [, quoted, plain = '', end = ''] = field.exec(text) ?? []
    if (field.lastIndex === 0) {
      // Not a field: goes on after this line.
      const next = text.indexOf('\n', start)
      lines.push(undefined)
      fields = []
      if (next < 0) return lines
      field.lastIndex = next + 1
      continue
    }
    fields.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    if (end === ',') {
      if (field.lastIndex === text.length) fields.push('')
      else continue
    }
    if (fields.length > 1 || fields[0] !== '') lines.push(fields)
    fields = []
  }
  if (fields.length > 0) lines.push(fields)
  return lines
}

/** Writes one line of CSV. A field that a spreadsheet would take as a formula begins with an apostrophe. */
export function csvLine(fields: readonly string[]): string {
  return `${fields.map(csvField).join(',')}\r\n`
}

function csvField(field: string): string {
  const text = /^[=+\-@\t\r]/.test(field) ? `'${field}` : field
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

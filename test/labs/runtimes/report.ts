/** Prints every group of checks as it ends, and a summary at the end. */
export class Report {
  passed = 0
  failed = 0
  readonly #since = Date.now()
  readonly #mustHave: boolean
  readonly #cells = new Map<string, Map<string, string>>()
  readonly #skipped: string[] = []

  /** @param mustHave Skipped checks count as failed. */
  constructor(mustHave: boolean) {
    this.#mustHave = mustHave
  }

  print(line: string): void {
    console.log(line)
  }

  /** Reports a group with its number of checks and their faults. */
  group(where: string, name: string, checks: number, faults: readonly string[]): void {
    this.passed += checks - faults.length
    this.failed += faults.length
    const cells = this.#cells.get(where) ?? new Map<string, string>()
    this.#cells.set(where, cells)
    cells.set(name, `${checks - faults.length}/${checks}`)
    this.print(
      `${faults.length === 0 ? 'passed' : 'FAILED'}  ${where} · ${name} · ${checks - faults.length} of ${checks}`,
    )
    for (const fault of faults) this.print(`        ${fault.replaceAll('\n', '\n        ')}`)
  }

  /** Reports a fault that prevented all checks. */
  fail(where: string, name: string, reason: string): void {
    this.group(where, name, 1, [reason])
  }

  skip(where: string, reason: string): void {
    if (this.#mustHave) this.fail(where, 'fetching', reason)
    else this.#skipped.push(`${where}: ${reason}`)
  }

  elapsed(): string {
    return `${Math.round((Date.now() - this.#since) / 1_000)} s`
  }

  /** Prints a table of places and groups, the skipped parts, and the count. */
  end(): void {
    const names = [...new Set([...this.#cells.values()].flatMap((cells) => [...cells.keys()]))]
    const rows = [...this.#cells].map(([where, cells]) => [where, ...names.map((name) => cells.get(name) ?? '-')])
    const table = [['', ...names], ...rows]
    const widths = ['', ...names].map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0)))
    this.print('')
    for (const row of table)
      this.print(
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      )
    this.print(`took ${this.elapsed()}`)
    for (const line of this.#skipped) this.print(`skipped: ${line}`)
    this.print(`${this.passed} passed, ${this.failed} failed`)
  }
}

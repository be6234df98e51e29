const MAX_NAMES = 3

/** The names nearest to one that was not found: at most three, and only those within a third of its length in edits. */
export function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  const reach = Math.max(2, Math.floor(wanted.length / 3))
  return names
    .filter((name) => Math.abs(name.length - wanted.length) <= reach)
    .map((name) => ({ name, edits: editsBetween(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ edits }) => edits <= reach)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

/** Levenshtein distance, row by row. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const swap = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

const MAX_NAMES = 3
/** More is another word, not a slip. */
const MAX_EDITS = 4

/** The names nearest to one that was not found: at most three, and only those within a third of its length in edits, and within four. */
export function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  const most = Math.min(MAX_EDITS, Math.max(2, Math.floor(wanted.length / 3)))
  const lower = wanted.toLowerCase()
  return names
    .filter((name) => Math.abs(name.length - wanted.length) <= most)
    .map((name) => ({ name, edits: editsBetween(lower, name.toLowerCase(), most) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

/**
 * Levenshtein distance, row by row; `most + 1` stands for all that is more. What is further than `most` from the diagonal need not be
 * looked at, so the work grows with the length and not with its square (Ukkonen, 1985): a row is as much of it as stands around there.
 */
function editsBetween(a: string, b: string, most: number): number {
  const more = most + 1
  let row: number[] = []
  for (let i = 0; i <= a.length; i++) {
    const next: number[] = []
    for (let j = i - most; j <= i + most; j++) {
      const at = next.length
      const swap = (row[at] ?? more) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const edits = Math.min(swap, (row[at + 1] ?? more) + 1, (next[at - 1] ?? more) + 1)
      next.push(j < 0 || j > b.length ? more : i * j === 0 ? i + j : edits)
    }
    if (Math.min(...next) > most) return more
    row = next
  }
  return row[b.length - a.length + most] ?? more
}

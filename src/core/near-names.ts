const MAX_NAMES = 3
/** More is another word, not a slip. */
const MAX_EDITS = 4

/** The names nearest to one that was not found: at most three, and only those within a third of its length in edits, and within four. */
export function nearNames(wanted: string, names: readonly string[]): readonly string[] {
  const most = Math.min(MAX_EDITS, Math.max(2, Math.floor(wanted.length / 3)))
  const lower = wanted.toLowerCase()
  return names
    .map((name) => ({ name, edits: editsBetween(lower, name.toLowerCase(), most) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
    .slice(0, MAX_NAMES)
    .map(({ name }) => name)
}

/**
 * Levenshtein distance, row by row; `most + 1` stands for all that is more. What is further than `most` from the diagonal need not be
 * looked at, so the work grows with the length and not with its square (Ukkonen, 1985).
 */
function editsBetween(a: string, b: string, most: number): number {
  const more = most + 1
  if (Math.abs(a.length - b.length) > most) return more
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  let next = row.map(() => more)
  for (let i = 1; i <= a.length; i++) {
    const [first, last] = [Math.max(1, i - most), Math.min(b.length, i + most)]
    next[first - 1] = first === 1 ? i : more
    let least = more
    for (let j = first; j <= last; j++) {
      const swap = (row[j - 1] ?? more) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const edits = Math.min(swap, (row[j] ?? more) + 1, (next[j - 1] ?? more) + 1)
      next[j] = edits
      least = Math.min(least, edits)
    }
    if (last < b.length) next[last + 1] = more
    if (least > most && i > most) return more
    const done = next
    next = row
    row = done
  }
  return row[b.length] ?? more
}

const MAX_NAMES = 3
/** With more edits it is another word, not a typing error. */
const MAX_EDITS = 4

/** Suggests at most three known names, within a third of the wanted length in edits: at least 2, at most 4. */
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

/** Levenshtein distance, at most `most + 1`. Computes only cells within `most` of the diagonal: linear time (Ukkonen, 1985). */
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

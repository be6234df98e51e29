/** How long JSON of plain data is, more or less: its texts and names, and a little for everything else. */
export function jsonSize(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return OTHER
  let size = OTHER
  for (const [name, member] of Object.entries(value)) size += name.length + jsonSize(member)
  return size
}

const OTHER = 8

/** Joins parts into one key. Different lists of parts give different keys. */
export function compoundKey(...parts: readonly string[]): string {
  let key = ''
  for (const part of parts) key += `${part.length}:${part}`
  return key
}

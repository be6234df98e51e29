/** One string of several. Different lists of parts give different strings. */
export function compoundKey(...parts: readonly string[]): string {
  let key = ''
  for (const part of parts) key += `${part.length}:${part}`
  return key
}

/** One string for several, such that no others give the same, whatever they hold. */
export function compoundKey(...parts: readonly string[]): string {
  let key = ''
  for (const part of parts) key += `${part.length}:${part}`
  return key
}

/** Appends one key to an RFC 6901 JSON Pointer. */
export function pointerTo(parent: string, key: PropertyKey): string {
  return `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** Appends one key to an RFC 6901 JSON Pointer. */
export function pointerTo(parent: string, key: PropertyKey): string {
  return `${parent}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

export function keysOf(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map(unescaped)
}

function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

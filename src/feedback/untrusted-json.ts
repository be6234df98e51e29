/** Parses a body; `undefined` if it is no JSON in UTF-8. Members of the result are read by {@link memberOf} only. */
export function parseJson(body: Uint8Array | string): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : new TextDecoder('utf-8', { fatal: true }).decode(body))
  } catch {
    return undefined
  }
}

/** Reads an own member of an object, or of nested ones; `undefined` for anything else. Never reads a prototype. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  let found = value
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined
    found = Reflect.get(found, name)
  }
  return found
}

export function textAt(value: unknown, ...path: readonly string[]): string | undefined {
  const found = memberOf(value, ...path)
  return typeof found === 'string' && found !== '' ? found : undefined
}

export function itemsAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = memberOf(value, ...path)
  return Array.isArray(found) ? found : []
}

/** A value of one text, or the first of a list of texts. */
export function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : value
  return typeof first === 'string' && first !== '' ? first : undefined
}

/** A text or a number as text. Objects are not converted: their `toString` may be a member of the body. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

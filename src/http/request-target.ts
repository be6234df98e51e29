const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i

/** Splits a path with its query, or a URL, without one trailing slash of the path. */
export function splitTarget(target: string): readonly [path: string, search: string] {
  const whole = pathAndQuery(target)
  const mark = whole.indexOf('?')
  return mark < 0 ? [withoutSlash(whole), ''] : [withoutSlash(whole.slice(0, mark)), whole.slice(mark + 1)]
}

export function withoutSlash(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path
}

/** Removes the origin and the fragment of a URL. */
export function pathAndQuery(target: string): string {
  const local = target.startsWith('/') ? target : target.replace(ORIGIN, '')
  const hash = local.indexOf('#')
  return hash < 0 ? local : local.slice(0, hash)
}

/** A longer tag counts as malformed. */
const MAX_TAG = 255

export function isLanguageTag(text: string): boolean {
  try {
    return text.length <= MAX_TAG && Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}

/**
 * Looks up a locale by its tag, then by shorter tags without its last subtags (RFC 4647, section 3.4). `undefined` for a malformed
 * locale.
 *
 * @param byTag By well-formed tags in lower case.
 */
export function lookUpLocale<T>(byTag: ReadonlyMap<string, T>, locale: string | undefined): T | undefined {
  // A host's directory may return null.
  if (typeof locale !== 'string' || locale.length > MAX_TAG) return undefined
  const whole = locale.toLowerCase()
  for (let tag = whole; tag !== ''; tag = shorter(tag)) {
    const found = byTag.get(tag)
    // The check for well-formedness is slow. A tag with an exact match needs none.
    if (found !== undefined) return tag === whole || isLanguageTag(locale) ? found : undefined
  }
  return undefined
}

function shorter(tag: string): string {
  const end = tag.lastIndexOf('-')
  return tag.slice(0, Math.max(0, tag[end - 2] === '-' ? end - 2 : end))
}

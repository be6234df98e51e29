/** Characters; a longer one is taken as malformed. */
const MAX_LENGTH = 255

/** Whether a text is a well-formed BCP 47 language tag. */
export function isLanguageTag(text: string): boolean {
  try {
    return text.length <= MAX_LENGTH && Intl.getCanonicalLocales(text).length === 1
  } catch {
    return false
  }
}

/**
 * What there is for a locale: under its tag, or else under what remains of it when subtags are taken off from the end (RFC 4647,
 * section 3.4). Nothing for a malformed one.
 *
 * @param byTag By well-formed tags in lower case.
 */
export function lookUpLocale<T>(byTag: ReadonlyMap<string, T>, locale: string | undefined): T | undefined {
  // A directory, which is of the host's own making, may give null.
  if (typeof locale !== 'string' || locale.length > MAX_LENGTH) return undefined
  const whole = locale.toLowerCase()
  for (let tag = whole; tag !== ''; tag = shorter(tag)) {
    const found = byTag.get(tag)
    // Telling whether it is well-formed takes a while, and what is there by its whole name is.
    if (found !== undefined) return tag === whole || isLanguageTag(locale) ? found : undefined
  }
  return undefined
}

/** Without its last subtag, and without the single character that introduced it. */
function shorter(tag: string): string {
  const end = tag.lastIndexOf('-')
  return tag.slice(0, Math.max(0, tag[end - 2] === '-' ? end - 2 : end))
}

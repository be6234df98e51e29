/** Limits the work on one header. */
const MAX_HEADER = 1_000
/** A language range with its weight (RFC 9110, sections 12.4.2 and 12.5.4). */
const RANGE = /^([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8}){0,8})(?:;q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/

/** Reads the accepted languages of an `Accept-Language` header, the preferred one first. Skips malformed ranges and `*`; linear time. */
export function acceptedLanguages(header: string): readonly string[] {
  const ranges = header
    .slice(0, MAX_HEADER)
    .split(',')
    .flatMap((range) => {
      const [, tag, weight = '1'] = RANGE.exec(range.replaceAll(/[ \t]/g, '')) ?? []
      return tag !== undefined && Number(weight) > 0 ? [{ tag, weight: Number(weight) }] : []
    })
  return ranges.sort((one, other) => other.weight - one.weight).map(({ tag }) => tag)
}

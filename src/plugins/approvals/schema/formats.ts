import type { TextField } from '../../../model/approval.ts'
import { parseInstant } from '../../../model/instants.ts'
import { parseUrl } from '../../../model/parse-url.ts'
import { parseMailbox } from '../../../model/recipient.ts'

export type TextFormat = NonNullable<TextField['format']>

/** Characters of RFC 3986, after a scheme. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\w.~:/?#[\]@!$&'()*+,;=%-]+$/
const HALF_ESCAPE = /%(?![0-9A-Fa-f]{2})/

interface Format {
  /** What a text must be, for a detail. */
  readonly expected: string
  /** Takes linear time. */
  fits(text: string): boolean
}

export const FORMATS: Readonly<Record<TextFormat, Format>> = {
  email: { expected: 'an e-mail address', fits: (text) => parseMailbox(text) !== undefined },
  uri: {
    expected: 'a URI with its scheme, such as https://example.com/',
    fits: (text) => URI.test(text) && !HALF_ESCAPE.test(text) && parseUrl(text) !== undefined,
  },
  date: {
    expected: 'a day of the calendar, such as 2026-12-31',
    fits: (text) => parseInstant(`${text}T00:00:00Z`) !== undefined,
  },
  'date-time': {
    expected: 'an instant with its offset, such as 2026-12-31T23:59:00Z',
    fits: (text) => parseInstant(text) !== undefined,
  },
}

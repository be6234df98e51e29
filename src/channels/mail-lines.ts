/** A header value that nodemailer writes without MIME encoding. */
export interface PreparedHeader {
  prepared: true
  value: string
}

/** RFC 5322, section 2.1.1: octets of one line. */
export const MAX_LINE = 998

/** nodemailer folds before a word of any length. The blank before it belongs to the line. */
export const MAX_SUBJECT: number = MAX_LINE - 1

/** A display name in quotes, with a backslash before each character, is shorter than a line. */
export const MAX_DISPLAY_NAME = 255

const ASCII = /^[\x20-\x7e]*$/
/** Makes nodemailer encode a value in ASCII: a quotation mark, or what a receiver may read as an encoded word. */
const ENCODED_IN_ASCII = /"|=\?/
/** nodemailer writes message ids itself, and takes no prepared value for them. */
const MESSAGE_IDS = /^(?:references|in-reply-to)$/i

/**
 * Headers for nodemailer. A value in ASCII leaves as it is: providers read JSON such as `X-SMTPAPI`, not its MIME encoding. A prepared
 * value is not folded, so the caller refuses control characters and lines over {@link MAX_LINE}.
 */
export function headerLines(headers: Readonly<Record<string, string>>): Record<string, string | PreparedHeader> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, headerLine(name, value)]))
}

function headerLine(name: string, value: string): string | PreparedHeader {
  const isChanged = ENCODED_IN_ASCII.test(value) && ASCII.test(value) && !MESSAGE_IDS.test(name)
  return isChanged ? { prepared: true, value } : value
}

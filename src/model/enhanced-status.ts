const STATUS = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?!\d|\.\d)/
/** The status is at the beginning of a reply. */
const REPLY_LENGTH = 500

/** The enhanced status code (RFC 3463) in a reply of a mail server. */
export function enhancedStatus(reply: unknown): string | undefined {
  return typeof reply === 'string' ? STATUS.exec(reply.slice(0, REPLY_LENGTH))?.[0] : undefined
}

/** True for a whole enhanced status code. */
export function isEnhancedStatus(text: unknown): text is string {
  return typeof text === 'string' && enhancedStatus(text) === text
}

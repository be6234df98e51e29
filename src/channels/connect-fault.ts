const CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'UND_ERR_CONNECT_TIMEOUT'])
const CALLS = new Set(['connect', 'getaddrinfo'])
// TLS handshake errors occur before any data is written.
const CERTIFICATE = /CERT|LEAF_SIGNATURE/

/** Whether an error proves that no connection was made, so that nothing was sent. */
export function isConnectFault(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, originalCode, syscall, errors } = error as Partial<Record<string, unknown>>
  if (typeof syscall === 'string' && CALLS.has(syscall)) return true
  // An AggregateError has one error per address.
  if (Array.isArray(errors) && errors.length > 0 && errors.every(isConnectFault)) return true
  return [code, originalCode].some((name) => typeof name === 'string' && (CODES.has(name) || CERTIFICATE.test(name)))
}

const LOST = /^(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|ENETRESET|UND_ERR_\w+|HPE_\w+)$/

/** Whether an error is a broken connection and not a bug. */
export function isLostConnection(error: unknown): boolean {
  const code: unknown = Object(error).code
  return typeof code === 'string' && LOST.test(code)
}

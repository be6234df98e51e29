const CODES = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'UND_ERR_CONNECT_TIMEOUT'])
const CALLS = new Set(['connect', 'getaddrinfo'])
// Found during the TLS handshake, before anything else can be written.
const CERTIFICATE = /CERT|LEAF_SIGNATURE/

/** Whether an error proves that no connection came about, so that nothing can have been sent. */
export function isConnectFault(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, originalCode, syscall, errors } = error as Partial<Record<string, unknown>>
  if (typeof syscall === 'string' && CALLS.has(syscall)) return true
  // Several addresses were tried: each has its own error.
  if (Array.isArray(errors) && errors.length > 0 && errors.every(isConnectFault)) return true
  return [code, originalCode].some((name) => typeof name === 'string' && (CODES.has(name) || CERTIFICATE.test(name)))
}

const LOST = /^(?:ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|E(?:HOST|NET)(?:UNREACH|DOWN)|ENETRESET|UND_ERR_\w+|HPE_\w+)$/

/** Whether an error says that a connection broke off, which no mistake in code does. */
export function isLostConnection(error: unknown): boolean {
  const code: unknown = Object(error).code
  return typeof code === 'string' && LOST.test(code)
}

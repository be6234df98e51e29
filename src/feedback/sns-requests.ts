import { X509Certificate } from 'node:crypto'
import { withTimeout } from '../model/time-out.ts'
import type { Clock } from '../ports/clock.ts'

export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** Requests to Amazon SNS. Both throw if SNS gives no answer: the proof cannot be checked now. */
export interface SnsRequests {
  /** Loads a signing certificate, or takes it from the cache. `undefined`: there is none that is valid now. */
  certificate(url: string, now: number): Promise<X509Certificate | undefined>
  confirm(url: string): Promise<void>
}

const MAX_BYTES = 16 * 1024
const MAX_CERTIFICATES = 16
/** Limits the downloads that forged requests can cause at once. Known certificates need none. */
const MAX_LOADING = 4

export function snsRequests(fetch: Fetch | undefined, timeoutMs: number, clock: Clock): SnsRequests {
  const known = new Map<string, X509Certificate>()
  const loading = new Map<string, Promise<X509Certificate | undefined>>()

  async function get<T>(url: string, read: (response: Response) => Promise<T>): Promise<T> {
    const ending = new AbortController()
    const request = fetch ?? globalThis.fetch
    const init: RequestInit = { redirect: 'error', signal: ending.signal }
    try {
      return await withTimeout(request(url, init).then(read), { ms: timeoutMs, clock })
    } finally {
      ending.abort()
    }
  }

  async function load(url: string): Promise<X509Certificate | undefined> {
    const certificate = await get(url, async (response) => {
      if (response.status >= 500 || response.status === 429) throw new Error(`http_${response.status}`)
      return response.status === 200 ? readCertificate(await boundedText(response.body)) : undefined
    })
    if (certificate === undefined) return undefined
    const [oldest] = known.keys()
    if (known.size >= MAX_CERTIFICATES && oldest !== undefined) known.delete(oldest)
    known.set(url, certificate)
    return certificate
  }

  function loadOnce(url: string): Promise<X509Certificate | undefined> {
    const started = loading.get(url)
    if (started) return started
    if (loading.size >= MAX_LOADING) throw new Error('ses: too many signing certificates are being loaded')
    const begun = load(url)
      .catch(() => {
        throw new Error('ses: the signing certificate cannot be loaded')
      })
      .finally(() => loading.delete(url))
    loading.set(url, begun)
    return begun
  }

  return {
    async certificate(url, now) {
      const certificate = known.get(url) ?? (await loadOnce(url))
      return certificate !== undefined && isValidAt(certificate, now) ? certificate : undefined
    },
    async confirm(url) {
      // The URL holds a token: no error quotes it.
      const isConfirmed = await get(url, async (response) => {
        await response.body?.cancel()
        return response.ok
      }).catch(() => false)
      if (!isConfirmed) throw new Error('ses: the subscription cannot be confirmed')
    },
  }
}

function isValidAt({ validFrom, validTo }: X509Certificate, now: number): boolean {
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo)
}

function readCertificate(pem: string): X509Certificate | undefined {
  try {
    return pem.trimStart().startsWith('-----BEGIN CERTIFICATE-----') ? new X509Certificate(pem) : undefined
  } catch {
    return undefined
  }
}

/** Empty if the text is too long. */
async function boundedText(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > MAX_BYTES) return ''
    text += decoder.decode(chunk, { stream: true })
  }
  return text
}

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
/**
 * Limits the downloads that forged requests can cause at once. The newest ends the oldest: certificates that do not load keep no genuine
 * one out. Known certificates need no download.
 */
const MAX_LOADING = 16

interface Loading {
  readonly certificate: Promise<X509Certificate | undefined>
  stop(): void
}

export function snsRequests(fetch: Fetch | undefined, timeoutMs: number, clock: Clock): SnsRequests {
  const known = new Map<string, X509Certificate>()
  const loading = new Map<string, Loading>()

  async function get<T>(
    url: string,
    read: (response: Response) => Promise<T>,
    ending: AbortController = new AbortController(),
  ): Promise<T> {
    const request = fetch ?? globalThis.fetch
    const { signal } = ending
    const init: RequestInit = { redirect: 'error', signal }
    try {
      return await withTimeout(request(url, init).then(read), { ms: timeoutMs, clock, signal })
    } finally {
      ending.abort()
    }
  }

  async function load(url: string, ending: AbortController): Promise<X509Certificate | undefined> {
    const certificate = await get(url, readLoaded, ending)
    if (certificate === undefined) return undefined
    const [oldest] = known.keys()
    if (known.size >= MAX_CERTIFICATES && oldest !== undefined) known.delete(oldest)
    known.set(url, certificate)
    return certificate
  }

  function loadOnce(url: string): Promise<X509Certificate | undefined> {
    const started = loading.get(url)
    if (started) return started.certificate
    const [oldest] = loading.values()
    if (loading.size >= MAX_LOADING) oldest?.stop()
    const ending = new AbortController()
    const end = (): void => {
      if (loading.get(url) === own) loading.delete(url)
    }
    const certificate = load(url, ending)
      .catch(() => {
        throw new Error('ses: the signing certificate cannot be loaded')
      })
      .finally(end)
    const own: Loading = {
      certificate,
      stop() {
        end()
        ending.abort()
      },
    }
    loading.set(url, own)
    return certificate
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

async function readLoaded(response: Response): Promise<X509Certificate | undefined> {
  if (response.status >= 500 || response.status === 429) throw new Error(`http_${response.status}`)
  return response.status === 200 ? readCertificate(await boundedText(response.body)) : undefined
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

import { request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { refused } from './refused.ts'
import { retryAfterMs, type WaitHeaders } from './retry-after.ts'
import { AddressForbidden } from './webhook-guard.ts'

/** Bytes of a response (interim responses, head and body) that are read before the connection is closed. */
const MAX_ANSWER_BYTES = 16 * 1024

export interface WebhookAnswer extends WaitHeaders {
  readonly status: number
}

/** The end of a POST. `begun`: the connection was made, so the event may have reached the receiver. */
export type PostResult =
  | ({ readonly ended: 'answered' } & WebhookAnswer)
  | { readonly ended: 'forbidden' }
  | { readonly ended: 'failed' | 'timeout' | 'aborted'; readonly begun: boolean }

export interface PostRequest {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly lookup: LookupFunction
  /** For resolving, connecting, writing and reading the whole response. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Trusted authorities instead of the machine's. */
  readonly ca?: string
}

/** Posts once over a new connection: no pool, proxy, redirects or cookies. Rejects only if a value cannot be a header. */
export function post(request: PostRequest): Promise<PostResult> {
  const { url, headers, body, lookup, timeoutMs, signal, clock, ca } = request
  return new Promise((resolve) => {
    const secure = url.protocol === 'https:'
    let begun = false
    let answer: PostResult | undefined
    const outgoing = (secure ? httpsRequest : httpRequest)(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      agent: false,
      lookup,
      maxHeaderSize: MAX_ANSWER_BYTES,
      insecureHTTPParser: false,
      ...(ca !== undefined && { ca }),
    })
    const finish = (result: PostResult) => {
      cancelTimer()
      signal.removeEventListener('abort', onAbort)
      outgoing.destroy()
      resolve(answer ?? result)
    }
    const onEnd = () => finish({ ended: 'failed', begun })
    const onAbort = () => finish({ ended: 'aborted', begun })
    const cancelTimer = clock.after(timeoutMs, () => finish({ ended: 'timeout', begun }))
    signal.addEventListener('abort', onAbort, { once: true })
    outgoing.once('socket', (socket) => {
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        begun = true
      })
      // Counted on the socket: interim responses, blank lines and chunk framing are not part of a body and could be endless.
      let bytes = 0
      socket.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes > MAX_ANSWER_BYTES) onEnd()
      })
    })
    outgoing.once('response', (incoming) => {
      const { 'retry-after': retryAfter, date } = incoming.headers
      answer = { ended: 'answered', status: incoming.statusCode ?? 0, retryAfter, date }
      incoming.on('error', onEnd).once('end', onEnd).resume()
    })
    // Keep the listener: a later `error` event without one would be thrown.
    outgoing.on('error', (error) => {
      finish(error instanceof AddressForbidden ? { ended: 'forbidden' } : { ended: 'failed', begun })
    })
    outgoing.once('close', onEnd)
    outgoing.end(body)
  })
}

/**
 * Outcome by Standard Webhooks: 2xx is success, 410 is final, and the receiver may fix every other status, including redirects and 4xx.
 */
export function webhookOutcome(result: PostResult, now: number): SendOutcome {
  switch (result.ended) {
    case 'answered':
      return answerOutcome(result, now)
    case 'forbidden':
      return refused('address_forbidden')
    case 'failed':
      return result.begun
        ? { outcome: 'unknown', code: 'connection_reset' }
        : { outcome: 'retry', code: 'connection_failed' }
    case 'timeout':
      return result.begun ? { outcome: 'unknown', code: 'timeout' } : { outcome: 'retry', code: 'connection_failed' }
    case 'aborted':
      return { outcome: result.begun ? 'unknown' : 'retry', code: 'aborted' }
  }
}

function answerOutcome({ status, ...headers }: WebhookAnswer, now: number): SendOutcome {
  if (status >= 200 && status < 300) return { outcome: 'sent' }
  const code = `http_${status}`
  if (status === 410) return { outcome: 'rejected', code }
  const wait = retryAfterMs(headers, now)
  return { outcome: 'retry', code, ...(wait !== undefined && { retryAfterMs: wait }) }
}

import type { SendOutcome } from '../ports/channel.ts'
import { retryAfterMs } from './retry-after.ts'
import type { PostResult, WebhookAnswer } from './webhook-request.ts'

/**
 * What the end of a POST says about the event, after Standard Webhooks: 2xx is success, 410 says never again, and every
 * other answer, redirects and the rest of 4xx among them, is a failure that the receiver may yet mend.
 */
export function webhookOutcome(result: PostResult, now: number): SendOutcome {
  switch (result.ended) {
    case 'answered':
      return answerOutcome(result, now)
    case 'forbidden':
      return { outcome: 'rejected', code: 'address_forbidden' }
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

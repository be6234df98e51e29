import { isClientError } from './client-error.ts'
import { withTimeout } from './time-out.ts'

/** Attempts something again for as long as that may help: exponential back-off with full jitter, and not before `Retry-After`. */
export async function retrying<Answer>(
  attempt: () => Promise<Answer>,
  retries: number,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt()
    } catch (error) {
      if (retry >= retries || !isClientError(error)) throw error
      const { status, retryAfterMs = 0 } = error
      // Not after 500: the server found a fault of its own. Without a status there was no answer.
      if ((status && ![408, 429, 502, 503, 504].includes(status)) || retryAfterMs > 30_000) throw error
      await withTimeout(retryAfterMs + Math.random() * Math.min(8000, 500 * 2 ** retry), signal)
    }
  }
}

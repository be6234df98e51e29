import type {
  FeedbackEvent,
  FeedbackReceipt,
  FeedbackRequest,
  FeedbackSource,
} from '../../src/ports/feedback-source.ts'

/** The time of every request. */
export const NOW: number = Date.UTC(2027, 0, 15, 12)
export const NOW_SECONDS: number = NOW / 1_000

export const DAY_MS = 86_400_000

export interface RequestParts {
  readonly body: string | Uint8Array
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
  readonly url?: string
  readonly now?: number
}

export function requestOf({ body, headers = {}, url = '/feedback', now = NOW }: RequestParts): FeedbackRequest {
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  return { body: bytes, url, now, header: (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined) }
}

/** The events of a request whose proof is right. */
export async function eventsOf(source: FeedbackSource, request: FeedbackRequest): Promise<readonly FeedbackEvent[]> {
  const receipt = await source.receive(request)
  if (receipt.outcome !== 'events') throw new Error('the proof is refused')
  return receipt.events
}

export const REFUSED: FeedbackReceipt = { outcome: 'refused' }

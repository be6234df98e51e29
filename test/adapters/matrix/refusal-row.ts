/** One way to be refused: what is sent beside a good token, and what comes back. */
export interface Row {
  readonly path: string
  /** `app` when there is none; no header when it is `undefined`. */
  readonly token?: string | undefined
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly answer: { status: number; code: string; pointers?: string[]; headers?: Record<string, string> }
  /** Hosts whose own parser answers this one itself, before Sallyport is asked. */
  readonly parserAnswers?: RegExp
}

/** An event and a run that are taken. */
export const EVENT = { eventType: 'order.shipped', recipient: 'ada@example.com', eventData: { orderId: 'A1' } } as const
export const POST = { sessionId: 's1', run: { runId: 'r1' } } as const

/** A body that is refused, with the places that are named. */
export function bodyRow(path: string, body: unknown, code: string, ...pointers: string[]): Row {
  return { path, body, answer: { status: code === 'run_identity_conflict' ? 409 : 422, code, pointers } }
}

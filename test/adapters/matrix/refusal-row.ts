/** A request to refuse, and the expected answer. */
export interface Row {
  readonly path: string
  /** Default: `app`. `undefined` sends no header. */
  readonly token?: string | undefined
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly answer: { status: number; code: string; pointers?: string[]; headers?: Record<string, string> }
  /** Names of hosts whose own parser answers this request. */
  readonly parserAnswers?: RegExp
}

/** An event and a run that are accepted. */
export const EVENT = { eventType: 'order.shipped', recipient: 'ada@example.com', eventData: { orderId: 'A1' } } as const
export const POST = { sessionId: 's1', run: { runId: 'r1' } } as const

/** A refused body, with the expected error pointers. */
export function bodyRow(path: string, body: unknown, code: string, ...pointers: string[]): Row {
  return { path, body, answer: { status: code === 'run_identity_conflict' ? 409 : 422, code, pointers } }
}

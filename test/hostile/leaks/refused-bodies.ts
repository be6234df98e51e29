import { toFetch } from '../../../src/adapters/fetch.ts'
import type { Answer, TestApp } from './test-app.ts'

/** Parts of requests that are full of secrets. */
export interface Bodies {
  readonly data: string
  readonly key: string
  readonly content: string
  readonly recipient: string
  readonly headers: { readonly 'idempotency-key': string }
  readonly eventData: object
  readonly dispatch: object
  readonly run: { readonly sessionId: string; readonly run: object }
}

export function bodiesOf({ canaries }: TestApp): Bodies {
  const data = canaries.word('event data')
  const key = canaries.word('keys of sent data')
  const recipient = `u-${canaries.word('recipient as sent')}`
  const sessionId = canaries.word('session id')
  const content = canaries.word('run: content')
  const headers = { 'idempotency-key': canaries.word('idempotency key') }
  const eventData = { note: `${data} <"&é>`, more: { [key]: data } }
  const run = {
    runId: 'r1',
    userId: content,
    tags: [content],
    metadata: { [content]: content },
    error: { type: content, message: content },
  }
  return {
    ...{ data, key, content, headers, recipient, eventData },
    dispatch: { eventType: 'order', recipient, sessionId, eventData, [key]: data },
    run: { sessionId, run: { ...run, [key]: content } },
  }
}

/** Calls the Fetch adapter directly, with a body that may be consumed already. */
export async function fetched(
  app: TestApp,
  path: string,
  { dispatch, headers }: Bodies,
  isRead: boolean,
): Promise<Answer> {
  const all = { ...headers, 'content-type': 'application/json', authorization: `Bearer ${app.secret}` }
  const body = JSON.stringify(dispatch)
  const request = new Request(`http://shop.test${path}`, { method: 'POST', headers: all, body })
  if (isRead) await request.text()
  const answer = await toFetch(app.sallyport)(request)
  const text = await answer.text()
  app.collected.keep('problem', [answer.status, [...answer.headers], text], body)
  return { status: answer.status, body: JSON.parse(text) }
}

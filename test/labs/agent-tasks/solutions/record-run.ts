import { createClient } from 'sallyport/client'

interface Options {
  readonly baseUrl: string
  readonly secret: string
  readonly sessionId: string
  readonly runId: string
  readonly model: string
  readonly usage: object
}

export async function record({ baseUrl, secret, sessionId, ...run }: Options): Promise<void> {
  const client = createClient({ baseUrl, token: secret })
  await client.recordRun({ sessionId, run: { ...run, status: 'completed' } })
}

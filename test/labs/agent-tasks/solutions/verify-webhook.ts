import { Webhook } from 'standardwebhooks'

export interface Received {
  readonly id: string
  readonly type: string
  readonly data: unknown
}

export function receive(secret: string, headers: Record<string, string>, body: string): Received | undefined {
  try {
    const { type, data } = new Webhook(secret).verify(body, headers) as Received
    return { id: `${headers['webhook-id']}`, type, data }
  } catch {
    return undefined
  }
}

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSallyport, defineEvents } from 'sallyport'
import { anyOf, appSecrets, issueSessionToken, sessionTokens } from 'sallyport/auth'
import { log } from 'sallyport/channels/log'
import { toNode } from 'sallyport/node'
import { memoryStore } from 'sallyport/storage/memory'

const mail = (text: string) => ({ channels: { email: { text: () => text } } })
const events = defineEvents({ 'ticket.escalated': mail('Please look'), 'ticket.closed': mail('Closed') })
const audience = 'tickets'

export async function start({ secret }: { readonly secret: string }): Promise<{
  url: string
  issueToken(): Promise<string>
  stop(): Promise<void>
}> {
  const key = { kid: '1', key: crypto.getRandomValues(new Uint8Array(32)) }
  const sallyport = createSallyport({
    auth: anyOf(appSecrets([secret]), sessionTokens({ keys: [key], audience })),
    events,
    store: memoryStore(),
    channels: { email: log() },
  })
  const server = createServer(toNode(sallyport)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const dispatch = {
    events: ['ticket.escalated'],
    channels: ['email'],
    recipients: ['team@example.com'],
    maxDispatches: 3,
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    issueToken: () =>
      issueSessionToken({
        sessionId: crypto.randomUUID(),
        grants: { dispatch },
        key,
        audience,
        expiresInSeconds: 600,
      }),
    async stop() {
      await sallyport.stop()
      server.close()
    },
  }
}

/** A host on `node:http` that reports its peak memory and its memory after a garbage collection. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSallyport } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { toNode } from 'sallyport/node'
import { memoryStore } from 'sallyport/storage/memory'
import { workload } from './workload.ts'

const [first, second] = [await generateAppSecret({ env: 'bench' }), await generateAppSecret({ env: 'bench' })]
const { withLiquid: events, channels } = await workload()
const auth = appSecrets([
  { id: 'first', sha256: first.sha256, tenant: 'first' },
  { id: 'second', sha256: second.sha256, tenant: 'second' },
])
const logger = { log() {} }
const sallyport = createSallyport({ auth, events, store: memoryStore(), channels, logger })

let peak = 0
let bytesRead = 0
const look = (): void => {
  peak = Math.max(peak, process.memoryUsage.rss())
}
setInterval(look, 5)

const server = createServer(toNode(sallyport)).listen(0, '127.0.0.1', () => {
  process.send?.({ port: (server.address() as AddressInfo).port, secret: first.secret, other: second.secret })
})
const sockets = new Set<import('node:net').Socket>()
server.on('connection', (socket) => sockets.add(socket))

/** Waits until no more bytes arrive, so that all sent data is read. */
async function settled(): Promise<void> {
  for (let same = 0; same < 4; same++) {
    await new Promise((resolve) => setTimeout(resolve, 250))
    const read = [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0)
    if (read !== bytesRead) same = 0
    bytesRead = read
  }
}

process.on('message', async () => {
  await settled()
  look()
  for (let times = 0; times < 3; times++) globalThis.gc?.()
  process.send?.({ rss: process.memoryUsage.rss(), peak })
})

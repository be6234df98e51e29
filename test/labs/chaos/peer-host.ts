/**
 * A host of one queue in its own process, to be killed: `peer-host.ts <settings as JSON>` accepts jobs and works them
 * off until it is killed, and ends with its parent process.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HostMessage, SinkPost } from './host-settings.ts'
import { loadPeer, type PeerSettings, SEND_FAILED } from './peer.ts'

const settings: PeerSettings = JSON.parse(process.argv[2] ?? '{}')
const { name, peer, sinkPort } = settings

const report = (word: HostMessage): void => void process.send?.(word)

async function send({ id, order }: { readonly id: string; readonly order: string }): Promise<void> {
  const post: SinkPost = { host: name, order, deliveryId: id, attempt: 0, fence: '' }
  try {
    const { ok, status } = await fetch(`http://127.0.0.1:${sinkPort}`, { method: 'POST', body: JSON.stringify(post) })
    if (!ok) throw new Error(`the sink answered ${status}`)
  } catch (error) {
    report({ word: 'logged', event: SEND_FAILED })
    throw error
  }
}

const { serve } = await loadPeer(peer)
const server = createServer(await serve(settings, send)).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  report({ word: 'listening', port })
})
process.on('disconnect', () => process.exit())

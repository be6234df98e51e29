import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports, so that no outgoing connection takes the port while its server is down; above 10080, to which `fetch` connects
 * nobody: it is a bad port (WHATWG Fetch, 2.9).
 */
const FROM = 10_081
const TO = 30_000
const TRIES = 50

/** A TCP port of the loopback interface that is free, and that no other caller gets until this process ends. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = randomInt(FROM, TO)
    if ((await reserved(port)) && (await isFree(port))) return port
  }
  throw new Error(`found no free port from ${FROM} to ${TO}`)
}

/** Binds the UDP port of the same number for the life of this process, which leaves the TCP port free. */
async function reserved(port: number): Promise<boolean> {
  const lock = createSocket('udp4').unref()
  lock.bind({ port, address: '127.0.0.1', exclusive: true })
  return holds(once(lock, 'listening'))
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  if (!(await holds(once(server, 'listening')))) return false
  server.close()
  await once(server, 'close')
  return true
}

function holds(event: Promise<unknown>): Promise<boolean> {
  return event.then(
    () => true,
    () => false,
  )
}

import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { DISPATCH, floodedHost } from './flooded-host.ts'
import { SERVERS } from './servers.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const CONNECTIONS = 4
const CHUNKS = 25_000
const CHUNK = '1\r\n \r\n'
const MIB = 1_048_576

/** The least memory in use over several garbage collections. */
async function memory(): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 6; round++) {
    await setImmediate()
    collectGarbage()
    const { heapUsed, external } = process.memoryUsage()
    least = Math.min(least, heapUsed + external)
  }
  return least
}

test.each(Object.keys(SERVERS))(
  'Bodies in one-byte chunks take little memory on %s',
  { timeout: 120_000 },
  async (name) => {
    const host = await floodedHost(SERVERS[name])
    const sockets = Array.from({ length: CONNECTIONS }, () => host.open(DISPATCH, 'acme.agent'))
    await Promise.all(sockets.map((socket) => socket.writable && once(socket, 'connect')))
    const before = await memory()
    const begun = host.bytesRead()
    for (let sent = 0; sent < CHUNKS; sent += 500)
      await Promise.all(
        sockets.map((socket) => new Promise((resolve) => void socket.write(CHUNK.repeat(500), resolve))),
      )
    while (host.bytesRead() - begun < CONNECTIONS * CHUNKS * CHUNK.length) await setImmediate()
    for (let turn = 0; turn < 50; turn++) await setImmediate()
    // The bodies are 98 kB; a buffer per chunk is more than 10 MiB.
    expect((await memory()) - before).toBeLessThan(4 * MIB)
    expect(sockets.map(({ bytesRead }) => bytesRead)).toEqual(sockets.map(() => 0))
  },
)

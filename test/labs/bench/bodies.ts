import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const CONNECTIONS = 20
/** As much as a dispatch may have, but for the last byte, so that all of them stay unfinished. */
const BYTES = 262_143
const SHAPES = { 'in chunks of 1 byte': 1, 'in chunks of 2,000 bytes': 2_000, 'in one chunk': BYTES }

/** Memory that 20 unfinished bodies take, by how they are chunked: each in a process of its own, after a collection. */
export async function benchBodies(): Promise<void> {
  console.log(
    `\nBodies: ${CONNECTIONS} connections of ${BYTES} bytes each that do not end; resident memory above that of an idle host`,
  )
  for (const [name, chunk] of Object.entries(SHAPES)) {
    const { grown, peak } = await measured(chunk)
    console.log(`  ${name.padEnd(26)} ${mib(grown)} MiB held, ${mib(peak)} MiB at most`)
  }
}

async function measured(chunk: number): Promise<{ grown: number; peak: number }> {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const child = fork(file('bodies-host.ts'), {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    env: { ...process.env, TSX_TSCONFIG_PATH: file('tsconfig.json') },
  })
  const [{ port, secret }] = (await once(child, 'message')) as [{ port: number; secret: string }]
  const before = await ask(child)
  const sockets = Array.from({ length: CONNECTIONS }, () => opened(port, secret))
  await Promise.all(sockets.map((socket) => fill(socket, chunk)))
  const after = await ask(child)
  for (const socket of sockets) socket.destroy()
  child.kill()
  await once(child, 'exit')
  return { grown: after.rss - before.rss, peak: after.peak - before.rss }
}

function opened(port: number, secret: string): Socket {
  const socket = connect(port, '127.0.0.1')
  const head = ['POST /api/outbound/dispatch HTTP/1.1', 'host: bench', 'content-type: application/json']
  socket.write(`${[...head, 'transfer-encoding: chunked', `authorization: Bearer ${secret}`].join('\r\n')}\r\n\r\n`)
  socket.on('error', () => {})
  return socket
}

async function fill(socket: Socket, chunk: number): Promise<void> {
  const framed = `${chunk.toString(16)}\r\n${'x'.repeat(chunk)}\r\n`
  const group = Math.ceil(20_000 / chunk)
  for (let sent = 0; sent + chunk <= BYTES; ) {
    const count = Math.min(group, Math.floor((BYTES - sent) / chunk))
    if (!socket.write(framed.repeat(count))) await once(socket, 'drain')
    sent += count * chunk
  }
}

/** Asked when all was sent: what has not been read yet is read before the answer comes. */
async function ask(child: ChildProcess): Promise<{ rss: number; peak: number }> {
  child.send('memory')
  const [memory] = await once(child, 'message')
  return memory as { rss: number; peak: number }
}

function mib(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1).padStart(7)
}

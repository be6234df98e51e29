import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'

const CONNECTIONS = 20
/** The limit of a dispatch minus the last byte, so that all bodies stay unfinished. */
const BYTES = 262_143
const SHAPES = { 'in chunks of 1 byte': 1, 'in chunks of 2,000 bytes': 2_000, 'in one chunk': BYTES }

/** Memory of 20 unfinished bodies after a garbage collection, by chunk size, then {@link benchSlots}. Each in its own process. */
export async function benchBodies(): Promise<void> {
  console.log(
    `\nBodies: ${CONNECTIONS} connections of ${BYTES} bytes each that do not end; resident memory above that of an idle host`,
  )
  for (const [name, chunk] of Object.entries(SHAPES)) {
    const { grown, peak } = await measured(chunk)
    console.log(`  ${name.padEnd(26)} ${mib(grown)} MiB held, ${mib(peak)} MiB at most`)
  }
  await benchSlots()
}

const HANGING = 1_000
const POSTS = 239

/** Refusals of one tenant while another tenant holds sockets whose bodies never end. */
async function benchSlots(): Promise<void> {
  const { child, port, secret, other } = await started()
  const sockets = Array.from({ length: HANGING }, () => opened(port, secret))
  for (const socket of sockets) socket.write('1\r\n{\r\n')
  await ask(child)
  const agent = new Agent({ keepAlive: true, maxSockets: 20 })
  const statuses = await Promise.all(Array.from({ length: POSTS }, () => statusOf(port, other, agent)))
  agent.destroy()
  for (const socket of sockets) socket.destroy()
  await ended(child)
  const refused = statuses.filter((status) => status >= 400).length
  console.log(`\nSlots: ${HANGING} hanging sockets of one tenant; ${refused} of ${POSTS} requests of another refused`)
}

function statusOf(port: number, secret: string, agent: Agent): Promise<number> {
  const body = JSON.stringify({ sessionId: 's1', run: { runId: 'r1' } })
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${secret}` }
  return new Promise((resolve, reject) => {
    const sent = request({ port, path: '/api/agents/session/run', method: 'POST', headers, agent }, (answer) => {
      answer.resume().on('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.on('error', reject).end(body)
  })
}

interface Started {
  readonly child: ChildProcess
  readonly port: number
  readonly secret: string
  /** The secret of another tenant. */
  readonly other: string
}

async function started(): Promise<Started> {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
  const child = fork(file('bodies-host.ts'), {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    env: { ...process.env, TSX_TSCONFIG_PATH: file('tsconfig.json') },
  })
  const [message] = (await once(child, 'message')) as [Omit<Started, 'child'>]
  return { child, ...message }
}

async function ended(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'exit')
}

async function measured(chunk: number): Promise<{ grown: number; peak: number }> {
  const { child, port, secret } = await started()
  const before = await ask(child)
  const sockets = Array.from({ length: CONNECTIONS }, () => opened(port, secret))
  await Promise.all(sockets.map((socket) => fill(socket, chunk)))
  const after = await ask(child)
  for (const socket of sockets) socket.destroy()
  await ended(child)
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

/** Asks once everything is sent. The host answers after it has read all of it. */
async function ask(child: ChildProcess): Promise<{ rss: number; peak: number }> {
  child.send('memory')
  const [memory] = await once(child, 'message')
  return memory as { rss: number; peak: number }
}

function mib(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1).padStart(7)
}

import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'
import type { Clock } from '../../src/ports/clock.ts'
import { freePort } from '../support/free-port.ts'

export const NOW: number = Date.parse('2026-11-21T08:00:00Z')

/** A clock that only a test moves; `pending` counts its timers. */
export function manualClock(now: number = NOW): Clock & { advance(ms: number): void; pending(): number } {
  const timers = new Set<{ at: number; run: () => void }>()
  let time = now
  return {
    now: () => time,
    after(ms, run) {
      const timer = { at: time + ms, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    advance(ms) {
      time += ms
      for (const timer of [...timers]) if (timer.at <= time && timers.delete(timer)) timer.run()
    },
    pending: () => timers.size,
  }
}

export async function listen(server: Server | TcpServer, host = '127.0.0.1'): Promise<number> {
  server.listen(0, host)
  await once(server, 'listening')
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export async function httpPeer(handler: RequestListener): Promise<number> {
  return listen(createServer(handler))
}

export async function tcpPeer(handler: (socket: Socket) => void): Promise<number> {
  return listen(createTcpServer(handler))
}

/** A port of this machine that nothing listens on. */
export const deadPort: () => Promise<number> = freePort

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

export async function smtpPeer(options: SMTPServerOptions): Promise<number> {
  const server = new SMTPServer({ disabledCommands: ['AUTH', 'STARTTLS'], disableReverseLookup: true, ...options })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)))
  return (server.server.address() as AddressInfo).port
}

export function refusal(responseCode: number): Error {
  return Object.assign(new Error('no'), { responseCode })
}

/** A promise with its resolve function. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

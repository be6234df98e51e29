import { EventEmitter, once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { generateAppSecret } from 'sallyport/auth'
import { SMTPServer } from 'smtp-server'

/** A mail that an SMTP server took. */
export interface Mail {
  readonly to: string
  readonly subject: string
  /** The body, decoded. */
  readonly text: string
}

export interface MailServer {
  readonly port: number
  readonly mails: readonly Mail[]
  /** The reply to each recipient, such as 550; `undefined` accepts. */
  reply: number | undefined
}

/** A request that a server took. */
export interface Taken {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface HttpServer {
  readonly url: string
  readonly requests: readonly Taken[]
}

/** The answer to a request; a promise that stays pending never answers. */
export type Answer = (request: Taken) => { readonly status: number; readonly body?: string } | Promise<never>

/** A clock that a solution reads by `now`. */
export interface Time {
  readonly now: () => number
  advance(ms: number): void
}

/** Real servers and files on this machine, for the checks. */
export interface Parts {
  mailServer(): Promise<MailServer>
  httpServer(answer: Answer): Promise<HttpServer>
  /** Serves a Node handler, and resolves to its URL. */
  serve(handler: RequestListener): Promise<string>
  /** A port on which nothing listens. */
  closedPort(): Promise<number>
  /** Path of a file that does not exist yet. */
  file(name: string): Promise<string>
  /** A new application secret of Sallyport. */
  secret(): Promise<string>
  /** @param start An RFC 3339 time. */
  time(start: string): Time
  /** Resolves when the condition holds, looking again after each mail, request and `changed()`, or rejects after five seconds. */
  until(about: string, holds: () => boolean): Promise<void>
  /** Says that something else happened for which `until` may wait. */
  changed(): void
  /** Posts JSON with a bearer token. */
  post(url: string, token: string, body: object): Promise<Response>
  /** Runs at the end of the check, as all parts close. */
  atEnd(close: () => unknown): void
  close(): Promise<void>
}

/** Opens parts; `close` ends all of them. */
export function createParts(): Parts {
  const closes: (() => unknown)[] = []
  const changes = new EventEmitter()
  const changed = (): void => void changes.emit('change')

  async function listen(server: NetServer): Promise<number> {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }

  async function serve(handler: RequestListener): Promise<string> {
    const server: Server = createServer(handler)
    closes.push(() => {
      server.close()
      server.closeAllConnections()
    })
    return `http://127.0.0.1:${await listen(server)}`
  }

  return {
    async mailServer() {
      const mails: Mail[] = []
      const own: { reply: number | undefined } = { reply: undefined }
      const server = new SMTPServer({
        authOptional: true,
        disabledCommands: ['STARTTLS'],
        onRcptTo(_address, _session, done) {
          if (own.reply === undefined) return done()
          done(Object.assign(new Error('refused by the test'), { responseCode: own.reply }))
        },
        async onData(stream, { envelope }, done) {
          const raw = await text(stream)
          const subject = /^Subject: (.*(?:\r\n[ \t].*)*)/im.exec(raw)?.[1] ?? ''
          mails.push({
            to: envelope.rcptTo.map(({ address }) => address).join(),
            subject: subject.replaceAll(/\r\n(?=[ \t])/g, ''),
            text: decode(raw.slice(raw.indexOf('\r\n\r\n'))),
          })
          done()
          changed()
        },
      })
      server.on('error', () => {})
      closes.push(() => new Promise<void>((resolve) => server.close(resolve)))
      return Object.assign(own, { port: await listen(server.server), mails })
    },
    async httpServer(answer) {
      const requests: Taken[] = []
      const url = await serve(async (request, response) => {
        const { method = '', url = '', headers } = request
        const taken = { method, path: url, headers, body: await text(request) }
        requests.push(taken)
        changed()
        const { status, body } = await answer(taken)
        response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      })
      return { url, requests }
    },
    serve,
    async closedPort() {
      const server = createServer()
      const port = await listen(server)
      server.close()
      await once(server, 'close')
      return port
    },
    async file(name) {
      const folder = await mkdtemp(join(tmpdir(), 'agent-task-'))
      closes.push(() => rm(folder, { recursive: true, force: true }))
      return join(folder, name)
    },
    secret: async () => (await generateAppSecret({ env: 'dev' })).secret,
    time(start) {
      let now = Date.parse(start)
      return {
        now: () => now,
        advance(ms) {
          now += ms
        },
      }
    },
    async until(about, holds) {
      const signal = AbortSignal.timeout(5_000)
      while (!holds())
        await once(changes, 'change', { signal }).catch((cause: unknown) => {
          throw new Error(`not within 5 seconds: ${about}`, { cause })
        })
    },
    changed,
    post: (url, token, body) =>
      fetch(url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    atEnd: (close) => void closes.unshift(close),
    async close() {
      for (const close of closes) await close()
    },
  }
}

/** Decodes quoted-printable text. */
function decode(mail: string): string {
  return mail
    .replaceAll('=\r\n', '')
    .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

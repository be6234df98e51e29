/** The other side of the demo, for real: a mail server, a webhook receiver, and the means to ask and to tell. */
import { EventEmitter, once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Server as NetServer } from 'node:net'
import { text } from 'node:stream/consumers'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'
import { Webhook } from 'standardwebhooks'

/** A mail server on loopback that keeps what it takes, as a mail parser reads it, and puts off one domain twice. */
export async function startMailServer(busyDomain: string): Promise<{
  mails: Email[]
  port: number
  /** The next mail to an address, within six seconds. */
  mailTo(address: string): Promise<Email>
  close(): Promise<void>
}> {
  const mails: Email[] = []
  const arrivals = new EventEmitter()
  let refusals = 2
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo({ address }, _session, answer) {
      if (!address.endsWith(`@${busyDomain}`) || refusals-- <= 0) return answer()
      answer(Object.assign(new Error('Mailbox busy, try again later'), { responseCode: 451 }))
    },
    onData(stream, _session, answer) {
      text(stream)
        .then(async (raw) => {
          const mail = await PostalMime.parse(raw)
          mails.push(mail)
          for (const { address } of mail.to ?? []) arrivals.emit(`to ${address}`, mail)
        })
        .then(() => answer(), answer)
    },
  })
  const mailTo = async (address: string): Promise<Email> => {
    const [mail] = await once(arrivals, `to ${address}`, { signal: AbortSignal.timeout(6_000) })
    return mail
  }
  const port = await listen(server.server)
  return { mails, port, mailTo, close: () => new Promise<void>((closed) => server.close(closed)) }
}

/** A webhook receiver on loopback that keeps what the reference verifier lets through. */
export async function startWebhookReceiver(
  secret: string,
): Promise<{ received: unknown[]; url: string; close(): Promise<void> }> {
  const verifier = new Webhook(secret)
  const received: unknown[] = []
  const server = createServer(async (req, res) => {
    try {
      received.push(verifier.verify(await text(req), req.headers as Record<string, string>))
      res.writeHead(204).end()
    } catch {
      res.writeHead(401).end()
    }
  })
  const port = await listen(server)
  return { received, url: `http://127.0.0.1:${port}/hooks`, close: () => close(server) }
}

/** Listens on a free loopback port. */
export async function listen(server: NetServer): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Closes a server and its connections. */
export async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((closed) => server.close(closed))
}

/** Reads one of the request bodies beside this file. */
export async function post(name: string): Promise<unknown> {
  return JSON.parse(await readFile(new URL(`posts/${name}.json`, import.meta.url), 'utf8'))
}

const colour = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (code: number, words: string): string => (colour ? `\x1b[${code}m${words}\x1b[0m` : words)

let failures = 0

/** Writes what happens, and remembers what was not as expected. */
export const tell = {
  title: (words: string): void => console.log(`\n${paint(1, words)}`),
  line: (words: string): void => console.log(`  ${words}`),
  detail: (words: string): void => console.log(paint(2, `    ${words}`)),
  check(words: string, holds: boolean): void {
    if (!holds) failures++
    console.log(`  ${holds ? paint(32, 'ok ') : paint(31, 'NO ')} ${words}`)
  },
  get failures(): number {
    return failures
  },
}

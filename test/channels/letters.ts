import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { createTransport } from 'nodemailer'
import type { SendOutcome } from 'sallyport'
import { email, type MailTransport } from 'sallyport/channels/email'
import type { SMTPServerOptions } from 'smtp-server'
import { onTestFinished } from 'vitest'
import { context, message } from './messages.ts'
import { smtpPeer } from './peers.ts'

export const LETTER = { subject: 'Order 7 shipped', html: '<p>On its way</p>', text: 'On its way' }

export function transportTo(port: number, options: object = {}): MailTransport {
  return createTransport({ host: '127.0.0.1', port, ignoreTLS: true, ...options })
}

export async function inbox(
  options: SMTPServerOptions = {},
): Promise<{ port: number; recipients: string[]; letters: Buffer[] }> {
  const recipients: string[] = []
  const letters: Buffer[] = []
  const port = await smtpPeer({
    onRcptTo({ address }, _session, callback) {
      recipients.push(address)
      callback()
    },
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        letters.push(Buffer.concat(chunks))
        callback()
      })
    },
    ...options,
  })
  return { port, recipients, letters }
}

export async function outcomeAt(options: SMTPServerOptions, transportOptions?: object): Promise<SendOutcome> {
  const { port } = await inbox(options)
  const channel = email(transportTo(port, transportOptions), { from: 'shop@example.com' })
  return channel.send(message('ada@example.test', LETTER), context())
}

/** The returned function has the latest connection of a client time out, as after a long silence. */
export function watchClient(): () => void {
  let client: Socket | undefined
  const note = (event: unknown) => {
    client = (event as { readonly socket: Socket }).socket
  }
  subscribe('net.client.socket', note)
  onTestFinished(() => void unsubscribe('net.client.socket', note))
  return () => void client?.emit('timeout')
}

/** Accepts a message over SMTP, then calls `then` instead of answering. */
export function afterData(then: (socket: Socket, seen: string) => void): (socket: Socket) => void {
  return (socket) => {
    let data = false
    let seen = ''
    socket.write('220 here\r\n')
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1')
      if (data && seen.endsWith('\r\n.\r\n')) then(socket, seen)
      if (data) return
      data = /^DATA\r\n/m.test(seen)
      socket.write(data ? '354 continue\r\n' : '250 ok\r\n')
    })
  }
}

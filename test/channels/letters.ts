import { createTransport } from 'nodemailer'
import type { SendOutcome } from 'sallyport'
import { email, type MailTransport } from 'sallyport/channels/email'
import type { SMTPServerOptions } from 'smtp-server'
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

import type { SendOutcome } from '../ports/channel.ts'
import { isConnectFault } from './connect-fault.ts'

const AUTH_CODES = new Set(['EAUTH', 'ENOAUTH', 'EOAUTH2'])
/** RFC 4954: authentication is required, too weak, failed for now, or needs encryption. */
const AUTH_REPLIES = new Set([432, 454, 530, 534, 535, 538])
const SETUP_CODES = new Set(['ECONFIG', 'EREQUIRETLS', 'EMAXRECIPIENTS', 'EFILEACCESS', 'EURLACCESS'])
const CONNECT_CODES = new Set(['EDNS', 'ETLS', 'EPROXY'])
const EARLY_TIMEOUTS = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT'])
/** What releases that give no `timeoutType` say instead. */
const EARLY_TIMEOUT_MESSAGES = new Set(['Connection timeout', 'Greeting never received'])

interface SmtpFault {
  readonly code?: unknown
  /** What `code` was before nodemailer put its own in its place. */
  readonly originalCode?: unknown
  readonly command?: unknown
  readonly responseCode?: unknown
  readonly timeoutType?: unknown
  readonly message?: unknown
}

/**
 * What an error of a nodemailer transport says about the message.
 *
 * A reply of the server decides first: 4yz is `retry`; 5yz is `rejected` where it answers the recipient (RCPT) or the
 * message (DATA), and `retry` before that, when it is the sender, the login or the server that is at fault and the
 * recipient cannot help it. Without a reply it is `retry` when the error proves that no message was under way. A
 * connection that was lost, or fell silent, is `retry` too where it is known that the message was not sent to its end, and `unknown`
 * otherwise: the error itself does not tell.
 *
 * @param isUnsent The message was certainly not sent to its end.
 */
export function smtpFaultOutcome(error: unknown, isUnsent: boolean): SendOutcome {
  if (typeof error !== 'object' || error === null) return { outcome: 'unknown', code: 'transport_error', cause: error }
  const fault: SmtpFault = error
  const code = typeof fault.code === 'string' ? fault.code : ''
  const reply = typeof fault.responseCode === 'number' ? fault.responseCode : 0
  if (AUTH_CODES.has(code) || AUTH_REPLIES.has(reply)) return { outcome: 'retry', code: 'smtp_auth' }
  if (reply >= 400 && reply < 600) return smtpReplyOutcome(reply, fault.command)
  if (SETUP_CODES.has(code) || SETUP_CODES.has(String(fault.originalCode)))
    return { outcome: 'retry', code: 'transport_misconfigured' }
  if (CONNECT_CODES.has(code) || isEarlyTimeout(fault) || isConnectFault(error)) {
    return { outcome: 'retry', code: 'connection_failed' }
  }
  if (code === 'EABORT') return { outcome: 'unknown', code: 'aborted' }
  const outcome = isUnsent ? 'retry' : 'unknown'
  if (code === 'ETIMEDOUT') return { outcome, code: 'timeout' }
  if (code === 'ECONNECTION' || code === 'ESOCKET') return { outcome, code: 'connection_lost' }
  return { outcome: 'unknown', code: 'transport_error', cause: error }
}

/** What a reply of the server says about the message. `command`: what it answers, where that is known. */
export function smtpReplyOutcome(reply: number, command?: unknown): SendOutcome {
  const code = `smtp_${reply}`
  // 503, commands out of order, is the session's fault; 552 says that this message is too large, wherever it comes.
  if (reply < 500 || reply === 503) return { outcome: 'retry', code }
  const early = command !== undefined && command !== 'RCPT TO' && command !== 'DATA'
  return { outcome: early && reply !== 552 ? 'retry' : 'rejected', code }
}

function isEarlyTimeout({ timeoutType, message }: SmtpFault): boolean {
  if (typeof timeoutType === 'string') return EARLY_TIMEOUTS.has(timeoutType)
  return typeof message === 'string' && EARLY_TIMEOUT_MESSAGES.has(message)
}

/** How far a mail came on its way to an SMTP server. */
export interface SmtpProgress {
  /** Certainly not all of the message was handed to the connection: the server cannot have taken it. */
  readonly isUnsent: boolean
}

/** Follows the mails of one transport, each known by the envelope object that was made for it. */
export interface ProgressWatch {
  begin(envelope: object): SmtpProgress
}

/** The part of a mail that nodemailer shows to a plugin. */
interface StreamedMail {
  readonly data?: { readonly envelope?: unknown }
  readonly message?: { createReadStream?: (...args: unknown[]) => MessageStream }
}

interface MessageStream {
  once(event: 'end', listener: () => void): unknown
}

type Plugin = (mail: StreamedMail, done: () => void) => void

interface Progress {
  /** nodemailer is about to send it over a connection: what it reads from then on is seen. */
  isSeen: boolean
  /** All of the message was read, and with it the end that lets the server take it. */
  isRead: boolean
}

const NOTHING_KNOWN: ProgressWatch = { begin: () => ({ isUnsent: false }) }

/** One for each transport, however many channels send through it. */
const watches = new WeakMap<object, ProgressWatch>()

/**
 * Follows the mails of a nodemailer transport over SMTP, through its interface for plugins: nodemailer reads the message once
 * the server has answered DATA, and what its errors say is the same before and after that. Of any other transport nothing is known.
 */
export function watchProgress(transport: object): ProgressWatch {
  const known = watches.get(transport)
  if (known) return known
  const watch = isSmtp(transport) ? watchSmtp(transport) : NOTHING_KNOWN
  watches.set(transport, watch)
  return watch
}

interface SmtpTransporter {
  use(step: 'stream', plugin: Plugin): unknown
}

/** `SMTP`, and `SMTP (pool)`: others may send without reading the message as a stream. */
function isSmtp(transport: object): transport is SmtpTransporter {
  const { use, transporter }: { use?: unknown; transporter?: unknown } = transport
  const name: unknown = Reflect.get(Object(transporter), 'name')
  return typeof use === 'function' && typeof name === 'string' && /^SMTP( \(pool\))?$/.test(name)
}

function watchSmtp(transport: SmtpTransporter): ProgressWatch {
  const mails = new WeakMap<object, Progress>()
  transport.use('stream', ({ data, message }, done) => {
    const progress = mails.get(Object(data?.envelope))
    const create = message?.createReadStream
    if (progress && message && create) {
      progress.isSeen = true
      message.createReadStream = (...args) => {
        const stream = create.apply(message, args)
        stream.once('end', () => {
          progress.isRead = true
        })
        return stream
      }
    }
    done()
  })
  return {
    begin(envelope) {
      const progress: Progress = { isSeen: false, isRead: false }
      mails.set(envelope, progress)
      return {
        get isUnsent() {
          return progress.isSeen && !progress.isRead
        },
      }
    },
  }
}

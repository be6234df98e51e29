import { enhancedStatus } from '../model/enhanced-status.ts'
import type { SendOutcome } from '../ports/channel.ts'
import { isConnectFault } from './connect-fault.ts'

const AUTH_CODES = new Set(['EAUTH', 'ENOAUTH', 'EOAUTH2'])
/** RFC 4954: authentication is required, too weak, failed temporarily, or needs encryption. */
const AUTH_REPLIES = new Set([432, 454, 530, 534, 535, 538])
const SETUP_CODES = new Set(['ECONFIG', 'EREQUIRETLS', 'EMAXRECIPIENTS', 'EFILEACCESS', 'EURLACCESS'])
const CONNECT_CODES = new Set(['EDNS', 'ETLS', 'EPROXY'])
const EARLY_TIMEOUTS = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT'])
/** Messages of releases without `timeoutType`. */
const EARLY_TIMEOUT_MESSAGES = new Set(['Connection timeout', 'Greeting never received'])

interface SmtpFault {
  readonly code?: unknown
  /** The `code` before nodemailer replaced it. */
  readonly originalCode?: unknown
  readonly command?: unknown
  readonly responseCode?: unknown
  /** Text of the server's reply. */
  readonly response?: unknown
  /** Errors of all recipients, if all were refused: the first one is that of the message, the others are copies. */
  readonly rejectedErrors?: unknown
  readonly timeoutType?: unknown
  readonly message?: unknown
}

/**
 * Outcome after the nodemailer transport threw. A server reply decides first: 4yz is `retry`; 5yz is `rejected` if it answers the
 * recipient (RCPT) or the message (DATA), and `retry` before that, because it concerns the sender, the login or the server. Without a
 * reply, an error is `retry` if it proves that nothing was sent. A lost or silent connection is `retry` if the message was certainly not
 * sent whole, else `unknown`.
 * @param isUnsent The message was certainly not sent whole.
 */
export function smtpFaultOutcome(error: unknown, isUnsent: boolean): SendOutcome {
  if (typeof error !== 'object' || error === null) return { outcome: 'unknown', code: 'transport_error', cause: error }
  const fault: SmtpFault = error
  const code = typeof fault.code === 'string' ? fault.code : ''
  const reply = typeof fault.responseCode === 'number' ? fault.responseCode : 0
  if (AUTH_CODES.has(code) || AUTH_REPLIES.has(reply)) return { outcome: 'retry', code: 'smtp_auth' }
  if (reply >= 400 && reply < 600) return smtpReplyOutcome(reply, responseOf(fault, reply), fault.command ?? 'DATA')
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

/** The reply to the recipient itself, unless it has another code. */
function responseOf({ response, rejectedErrors }: SmtpFault, reply: number): unknown {
  const first: SmtpFault = Object(Array.isArray(rejectedErrors) ? rejectedErrors[0] : undefined)
  return first.responseCode === reply ? first.response : response
}

/** RFC 3463 and the registry of IANA: no such mailbox, malformed, moved, without mail (null MX), disabled. */
const DEAD_MAILBOX: readonly unknown[] = ['5.1.1', '5.1.3', '5.1.6', '5.1.10', '5.2.1']

/**
 * Outcome by the server's reply and the command that it answers: RCPT, if none is known. The mailbox does not exist if a final reply to it
 * says so by its enhanced status; other refusals may be about the sender, the message or a list of blocked servers.
 */
export function smtpReplyOutcome(reply: number, response: unknown, command: unknown = 'RCPT TO'): SendOutcome {
  const status = enhancedStatus(response)
  const code = { code: `smtp_${reply}`, ...(status !== undefined && { enhancedStatus: status }) }
  // 503 (bad sequence of commands) is a fault of the session; 552 (message too large) is final for any command.
  if (reply < 500 || reply === 503) return { outcome: 'retry', ...code }
  const isOfRecipient = command === 'RCPT TO'
  const isEarly = !isOfRecipient && command !== 'DATA'
  if (isEarly && reply !== 552) return { outcome: 'retry', ...code }
  const isDead = isOfRecipient && DEAD_MAILBOX.includes(status)
  return { outcome: 'rejected', ...code, ...(isDead && { suppress: 'bounced' }) }
}

function isEarlyTimeout({ timeoutType, message }: SmtpFault): boolean {
  if (typeof timeoutType === 'string') return EARLY_TIMEOUTS.has(timeoutType)
  return typeof message === 'string' && EARLY_TIMEOUT_MESSAGES.has(message)
}

export interface SmtpProgress {
  /** The message was certainly not written whole, so the server cannot have accepted it. */
  readonly isUnsent: boolean
}

/** Follows the mails of one transport by their envelope objects. */
export interface ProgressWatch {
  begin(envelope: object): SmtpProgress
}

interface StreamedMail {
  readonly data?: { readonly envelope?: unknown }
  readonly message?: { createReadStream?: (...args: unknown[]) => MessageStream }
}

interface MessageStream {
  once(event: 'end', listener: () => void): unknown
}

type Plugin = (mail: StreamedMail, done: () => void) => void

interface Progress {
  /** The plugin ran: nodemailer's reads are observed. */
  isSeen: boolean
  /** The message was read to its end, so the server may have accepted it. */
  isRead: boolean
}

const NOTHING_KNOWN: ProgressWatch = { begin: () => ({ isUnsent: false }) }

/** One per transport, even if several channels share it. */
const watches = new WeakMap<object, ProgressWatch>()

/**
 * Observes a nodemailer SMTP transport by a plugin, because errors before and after the message was read are equal. Ignores other
 * transports.
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

/** True for `SMTP` and `SMTP (pool)`: other transports may not read the message as a stream. */
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

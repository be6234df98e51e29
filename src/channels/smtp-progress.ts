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

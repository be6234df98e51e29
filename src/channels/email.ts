/**
 * Mail over a nodemailer transport.
 * @module sallyport/channels/email
 */
import type { Content } from '../model/dispatch.ts'
import type { JsonValue } from '../model/json.ts'
import { parseDomain, parseMailbox, type Recipient } from '../model/recipient.ts'
import { fn, has, matching, schedule } from '../options/checks.ts'
import {
  type Check,
  type Checks,
  faultOf,
  isRecord,
  nested,
  problemsAt,
  readOptions,
  required,
} from '../options/read-options.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { dkimOptions, withListUnsubscribe } from './list-unsubscribe.ts'
import {
  isDisplayName,
  MAIL_FIELDS,
  type MailAttachment,
  type MailFields,
  mailCopies,
  mailFieldProblem,
  readMailFields,
  withoutCopies,
} from './mail-fields.ts'
import { headerLines, MAX_DISPLAY_NAME, MAX_SUBJECT, type PreparedHeader } from './mail-lines.ts'
import { fieldFaults, notText, singleLine } from './message-content.ts'
import { refused, refusedField } from './refused.ts'
import { type SmtpProgress, smtpFaultOutcome, smtpReplyOutcome, watchProgress } from './smtp-outcome.ts'

export type { MailAttachment } from './mail-fields.ts'
export type { PreparedHeader } from './mail-lines.ts'

/** A mailbox with a display name. */
export interface NamedMailbox {
  /** One line of at most 255 characters. */
  readonly name: string
  /** `local@domain` only. */
  readonly address: string
}

/** The mail that a transport sends. The explicit envelope prevents headers from adding recipients. */
export interface MailToSend {
  from: string | { name: string; address: string }
  to: { name: string; address: string }
  replyTo?: string | { name: string; address: string }
  cc?: { name: string; address: string }[]
  /** All recipients: of `to`, then of `cc` and the hidden copies. */
  envelope: { from: string; to: string | string[] }
  messageId: string
  subject: string
  html?: string
  text?: string
  headers?: Record<string, string | PreparedHeader>
  attachments?: MailAttachment[]
  /** Extends the headers that nodemailer signs with DKIM, unless the transport has its own `dkim.headerFieldNames`. */
  _dkim?: { headerFieldNames: string }
  disableFileAccess: true
  disableUrlAccess: true
  /** Ends the connection early. nodemailer before version 10 ignores it. */
  signal: AbortSignal
}

/** A transport's result for an accepted message. */
export interface MailSent {
  readonly messageId?: string | undefined
  /** Addresses that were refused while others were not, and each reply. */
  readonly rejected?: readonly unknown[] | undefined
  readonly rejectedErrors?: readonly unknown[] | undefined
}

/** The used part of a nodemailer transporter: pass `nodemailer.createTransport(...)`. */
export interface MailTransport {
  sendMail(mail: MailToSend): Promise<MailSent>
}

/** Options of {@link email}. */
export interface EmailOptions {
  /** Sender in the header and in the envelope: `shop@example.com`, or with a display name. */
  readonly from: string | NamedMailbox
  /** Address for replies. Default: the sender. */
  readonly replyTo?: string | NamedMailbox
  /** Right-hand side of the Message-ID. Default: the domain of `from`. */
  readonly messageIdDomain?: string
  /** Milliseconds before each further attempt. Default: that of {@link Channel.retrySchedule}. */
  readonly retrySchedule?: readonly number[]
  /** Finds a recipient's address. Default: `recipient.email`. */
  readonly addressOf?: (recipient: Recipient) => string | undefined
  /**
   * Headers of every mail, such as the metadata that the provider returns in its feedback:
   * `({ deliveryId }) => ({ 'X-PM-Metadata-sallyport_delivery': deliveryId })`. An event's `headers` replace those of the same name.
   * A value in ASCII leaves as it is, JSON too; others are MIME encoded.
   */
  readonly headers?: (mail: MailFacts) => Readonly<Record<string, string>>
}

/** The delivery of a mail. */
export interface MailFacts extends Pick<OutboundMessage, 'dispatchId' | 'tenant' | 'eventType'> {
  readonly deliveryId: string
}

const address = matching(
  (value) => typeof value === 'string' && parseMailbox(value) !== undefined,
  'must be one plain address, local@domain; give a name as { name, address }',
)
const named = nested<NamedMailbox>({
  name: required(
    matching(isDisplayName, `must be a single line without control characters, at most ${MAX_DISPLAY_NAME} characters`),
  ),
  address: required(address),
})
const mailbox: Check = (value, given) => (typeof value === 'object' && value !== null ? named : address)(value, given)

const CHECKS: Checks<EmailOptions> = {
  from: required(mailbox),
  replyTo: mailbox,
  messageIdDomain: matching(
    (value) => typeof value === 'string' && parseDomain(value) !== undefined,
    'must be a domain name',
  ),
  retrySchedule: schedule,
  addressOf: fn,
  headers: fn,
}

const FIELDS = ['subject', 'html', 'text', ...MAIL_FIELDS]

/**
 * Sends mail through your nodemailer transport. Template fields: `subject`, and `html` or `text` or both. Further fields, each a template, a
 * value or a function:
 *
 * | field | value |
 * |---|---|
 * | `from` `replyTo` | one mailbox: `local@domain`, `Name <local@domain>` or `{ name, address }`. Default: those of the options |
 * | `cc` `bcc` | one mailbox or a list, at most 50 |
 * | `headers` | single lines by name, at most 50; none that the channel or the mail system sets |
 * | `attachments` | at most 20 of `{ filename, content, encoding?, contentType?, cid? }`, 256 KiB in all. `encoding`: `utf8` (default) or `base64`. With `cid` it is an inline image: `<img src="cid:…">` |
 *
 * The channel validates every mailbox itself. Content is passed as strings, without access to files or URLs. The Message-ID is the delivery
 * id, the same for every attempt, so that mail systems can drop a repeat. The outcome is that of the recipient: a copy that is refused
 * changes nothing.
 *
 * With the plugin `consent` and the option `links`, mails of events that are not `critical` get `List-Unsubscribe` and `List-Unsubscribe-Post` (RFC 8058), except those
 * with an own header `List-Unsubscribe`. Both must be signed: with `dkim` of nodemailer they are, unless you set `dkim.headerFieldNames`; then
 * list both there. A provider that signs for you must sign both.
 *
 * Codes: `address_invalid`, `content_invalid`, `subject_too_long` (over 997 characters), `<field>_invalid` of a further field,
 * `smtp_<reply>` (4yz is retried; 5yz is final if it answers the recipient or the message), `smtp_auth`, `transport_misconfigured`,
 * `connection_failed`, `aborted`; `connection_lost` and `timeout`, which are `retry` until the whole message was sent, then `unknown` until
 * its reply; `aborted` and `transport_error` if it may have been sent. To know this, the channel adds a plugin that changes nothing to an
 * SMTP transport of nodemailer; with other transports the outcome is `unknown`.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function email(transport: MailTransport, options: EmailOptions): Channel {
  const { retrySchedule, addressOf, headers, ...own } = readOptions('email', options, CHECKS, () =>
    problemsAt(
      'transport',
      faultOf(transport, has('a transport of nodemailer: nodemailer.createTransport(…)', 'sendMail')),
    ),
  )
  const from = namedMailbox(own.from)
  const replyTo = own.replyTo === undefined ? undefined : namedMailbox(own.replyTo)
  const domain = parseDomain(own.messageIdDomain ?? from.address.slice(from.address.lastIndexOf('@') + 1))
  const watch = watchProgress(transport)

  function withHeaders({ content, dispatchId, tenant, eventType }: OutboundMessage, deliveryId: string): Content {
    if (headers === undefined) return content
    const own = headers({ deliveryId, dispatchId, tenant, eventType })
    return { ...content, headers: mergeHeaders(own, content.headers ?? {}) }
  }

  async function send(message: OutboundMessage, context: SendContext): Promise<SendOutcome> {
    const to = parseMailbox(message.to)
    if (to === undefined) return refused('address_invalid')
    const body = contentOf(message.content)
    if (body === undefined) return refused('content_invalid')
    if (body.subject.length > MAX_SUBJECT) return refused('subject_too_long')
    const read = readMailFields(withHeaders(message, context.deliveryId))
    if (typeof read === 'string') return refusedField(read)
    const fields = withoutCopies(read, message.omittedCopies)
    if (context.signal.aborted) return { outcome: 'retry', code: 'aborted' }
    const unsubscribe = message.links?.unsubscribe
    const headers = unsubscribe === undefined ? fields.headers : withListUnsubscribe(fields.headers, unsubscribe)
    const sender = fields.from ?? from
    const replies = fields.replyTo ?? replyTo
    const copies = [...fields.cc, ...fields.bcc].map(({ address }) => address)
    const envelope = { from: sender.address, to: copies.length > 0 ? [...new Set([to, ...copies])] : to }
    const progress = watch.begin(envelope)
    return settle(envelope, context.signal, progress, () =>
      transport.sendMail({
        ...body,
        ...partsOf({ ...fields, headers }),
        from: { ...sender },
        to: { name: '', address: to },
        ...(replies && { replyTo: { ...replies } }),
        envelope,
        messageId: `<${context.deliveryId}@${domain}>`,
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: context.signal,
      }),
    )
  }

  return {
    address(recipient) {
      return (addressOf ? addressOf(recipient) : recipient.email) || undefined
    },
    send,
    copies: mailCopies,
    ...(retrySchedule && { retrySchedule }),
    checkFields,
  }
}

function checkFields(fields: readonly string[], values: Readonly<Record<string, JsonValue>> = {}): readonly string[] {
  return [
    ...fieldFaults(fields, FIELDS, [['subject'], ['html', 'text']]),
    ...notText(['subject', 'html', 'text'], values),
    ...Object.entries(values).flatMap(([field, value]) => mailFieldProblem(field, value) ?? []),
  ]
}

function contentOf({ subject, html, text }: Content): Pick<MailToSend, 'subject' | 'html' | 'text'> | undefined {
  if (typeof subject !== 'string' || (html === undefined && text === undefined)) return undefined
  if (![html, text].every((part) => part === undefined || typeof part === 'string')) return undefined
  return {
    subject: singleLine(subject).toWellFormed(),
    ...(typeof html === 'string' && { html }),
    ...(typeof text === 'string' && { text }),
  }
}

/** Merges headers by their names without case. One that is no object is returned, and then refused. */
function mergeHeaders(own: JsonValue, ofEvent: JsonValue): JsonValue {
  if (!isRecord(own) || ofEvent === '') return own
  if (!isRecord(ofEvent)) return ofEvent
  const names = new Set(Object.keys(ofEvent).map((name) => name.toLowerCase()))
  const others = Object.entries(own).filter(([name]) => !names.has(name.toLowerCase()))
  return { ...Object.fromEntries(others), ...ofEvent }
}

/** Copies, because a transport may change what it is given. */
function partsOf({
  cc,
  headers,
  attachments,
}: MailFields): Pick<MailToSend, 'cc' | 'headers' | 'attachments' | '_dkim'> {
  const dkim = dkimOptions(headers)
  return {
    ...(cc.length > 0 && { cc: cc.map((one) => ({ ...one })) }),
    ...(Object.keys(headers).length > 0 && { headers: headerLines(headers) }),
    ...(dkim && { _dkim: dkim }),
    ...(attachments.length > 0 && { attachments: attachments.map((one) => ({ ...one })) }),
  }
}

function namedMailbox(given: string | NamedMailbox): NamedMailbox {
  const { name, address } = typeof given === 'string' ? { name: '', address: given } : given
  return { name, address: parseMailbox(address) as string }
}

async function settle(
  envelope: MailToSend['envelope'],
  signal: AbortSignal,
  progress: SmtpProgress,
  sendMail: () => Promise<MailSent>,
): Promise<SendOutcome> {
  const faultOutcome = (error: unknown) => smtpFaultOutcome(error, progress.isUnsent)
  let onAbort = (): void => {}
  const aborted = new Promise<SendOutcome>((resolve) => {
    onAbort = () => resolve({ outcome: 'unknown', code: 'aborted' })
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([sendMail().then((sent) => sentOutcome(sent, envelope), faultOutcome), aborted])
  } catch (error) {
    return faultOutcome(error)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function sentOutcome(sent: MailSent, { to }: MailToSend['envelope']): SendOutcome {
  const { rejected = [], rejectedErrors = [] } = sent ?? {}
  const refused = typeof to === 'string' ? 0 : rejected.indexOf(to[0])
  if (refused in rejected) {
    const { responseCode: reply, response } = Object(rejectedErrors[refused])
    if (typeof reply === 'number') return smtpReplyOutcome(reply, response)
    return { outcome: 'rejected', code: 'recipient_rejected' }
  }
  return { outcome: 'sent', ...(sent?.messageId !== undefined && { providerMessageId: sent.messageId }) }
}

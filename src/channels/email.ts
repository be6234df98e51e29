/**
 * Mails, over a transport of nodemailer.
 *
 * @module sallyport/channels/email
 */
import type { ConfigProblem } from '../errors.ts'
import type { Content } from '../model/dispatch.ts'
import { parseDomain, parseMailbox } from '../model/mailbox.ts'
import type { Recipient } from '../model/recipient.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { singleLine } from './control-characters.ts'
import { refuseBadOptions, scheduleProblems, unknownFields } from './option-problems.ts'
import { smtpFaultOutcome, smtpReplyOutcome } from './smtp-outcome.ts'

/** A mailbox with a name to show. */
export interface NamedMailbox {
  readonly name: string
  /** `local@domain`, nothing else. */
  readonly address: string
}

/** What a transport is asked to send. The envelope is explicit, so no header can add a recipient. */
export interface MailToSend {
  from: string | { name: string; address: string }
  to: { name: string; address: string }
  replyTo?: string | { name: string; address: string }
  envelope: { from: string; to: string }
  messageId: string
  subject: string
  html?: string
  text?: string
  disableFileAccess: true
  disableUrlAccess: true
  /** Ends the connection early; releases of nodemailer before 10 ignore it. */
  signal: AbortSignal
}

/** What a transport gave for a message that it took. */
export interface MailSent {
  readonly messageId?: string | undefined
  /** Filled by LMTP, which answers for every recipient after the message. */
  readonly rejected?: readonly unknown[] | undefined
  readonly rejectedErrors?: readonly unknown[] | undefined
}

/** The part of nodemailer's transporter that is used: what `nodemailer.createTransport(...)` gives fits. */
export interface MailTransport {
  sendMail(mail: MailToSend): Promise<MailSent>
}

/** How {@link email} sends. */
export interface EmailOptions {
  /** The sender, in the header and in the envelope: `shop@example.com`, or with a name to show. */
  readonly from: string | NamedMailbox
  /** Where answers go. Default: to the sender. */
  readonly replyTo?: string | NamedMailbox
  /** The right-hand side of the Message-ID. Default: the domain of `from`. */
  readonly messageIdDomain?: string
  /** Milliseconds before each further attempt. Default: that of {@link Channel.retrySchedule}. */
  readonly retrySchedule?: readonly number[]
  /** Where to find a recipient's address. Default: `recipient.email`. */
  readonly addressOf?: (recipient: Recipient) => string | undefined
}

const FIELDS = ['subject', 'html', 'text']

/**
 * Sends mail through a nodemailer transport of yours. Template fields: `subject`, and `html` or `text` or both.
 *
 * Every message goes to exactly one mailbox, checked here and not left to the transport's address grammar. Content is sent
 * as strings, with no access to files or URLs. The Message-ID is the delivery id, the same for every attempt, so that
 * mail systems can drop a repeat.
 *
 * Codes: `address_invalid`, `content_invalid`, `smtp_<reply>` (4yz is tried again; 5yz is final where it answers the
 * recipient or the message), `smtp_auth`, `transport_misconfigured`, `connection_failed`, `aborted`; and `connection_lost`,
 * `timeout`, `aborted` and `transport_error` where it may have been sent.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function email(transport: MailTransport, options: EmailOptions): Channel {
  const problems = scheduleProblems(options.retrySchedule)
  if (typeof transport?.sendMail !== 'function') problems.push({ detail: 'the transport has no sendMail function' })
  const from = sender('from', options.from, problems)
  const replyTo = options.replyTo === undefined ? undefined : sender('replyTo', options.replyTo, problems)
  const domain = parseDomain(options.messageIdDomain ?? from.address.slice(from.address.lastIndexOf('@') + 1))
  if (domain === undefined && options.messageIdDomain !== undefined) {
    problems.push({ field: 'messageIdDomain', detail: 'must be a domain name' })
  }
  refuseBadOptions('email', problems)

  async function send(message: OutboundMessage, context: SendContext): Promise<SendOutcome> {
    const to = parseMailbox(message.to)
    if (to === undefined) return { outcome: 'rejected', code: 'address_invalid' }
    const body = contentOf(message.content)
    if (body === undefined) return { outcome: 'rejected', code: 'content_invalid' }
    if (context.signal.aborted) return { outcome: 'retry', code: 'aborted' }
    return settle(context.signal, () =>
      transport.sendMail({
        ...body,
        from: { ...from },
        to: { name: '', address: to },
        ...(replyTo && { replyTo: { ...replyTo } }),
        envelope: { from: from.address, to },
        messageId: `<${context.deliveryId}@${domain}>`,
        disableFileAccess: true,
        disableUrlAccess: true,
        signal: context.signal,
      }),
    )
  }

  return {
    address(recipient) {
      return (options.addressOf ? options.addressOf(recipient) : recipient.email) || undefined
    },
    send,
    ...(options.retrySchedule && { retrySchedule: options.retrySchedule }),
    checkFields,
  }
}

function checkFields(fields: readonly string[]): string | undefined {
  const problems = [
    fields.includes('subject') ? undefined : 'needs a subject',
    fields.includes('html') || fields.includes('text') ? undefined : 'needs html or text',
    unknownFields(fields, FIELDS),
  ]
  return problems.filter((problem) => problem !== undefined).join('; ') || undefined
}

function contentOf({ subject, html, text }: Content): Pick<MailToSend, 'subject' | 'html' | 'text'> | undefined {
  if (typeof subject !== 'string' || (html === undefined && text === undefined)) return undefined
  if (![html, text].every((part) => part === undefined || typeof part === 'string')) return undefined
  return {
    subject: singleLine(subject).slice(0, 998).toWellFormed(),
    ...(typeof html === 'string' && { html }),
    ...(typeof text === 'string' && { text }),
  }
}

function sender(field: string, given: string | NamedMailbox, problems: ConfigProblem[]): NamedMailbox {
  const { name, address } = typeof given === 'string' ? { name: '', address: given } : (given ?? {})
  const mailbox = typeof address === 'string' ? parseMailbox(address) : undefined
  if (mailbox === undefined) {
    problems.push({ field, detail: 'must be one plain address, local@domain; give a name as { name, address }' })
  }
  if (typeof name !== 'string' || name !== singleLine(name)) {
    problems.push({ field: `${field}.name`, detail: 'must be a single line without control characters' })
  }
  return { name, address: mailbox ?? '' }
}

async function settle(signal: AbortSignal, sendMail: () => Promise<MailSent>): Promise<SendOutcome> {
  let onAbort = (): void => {}
  const aborted = new Promise<SendOutcome>((resolve) => {
    onAbort = () => resolve({ outcome: 'unknown', code: 'aborted' })
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([sendMail().then(sentOutcome, smtpFaultOutcome), aborted])
  } catch (error) {
    return smtpFaultOutcome(error)
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function sentOutcome(sent: MailSent): SendOutcome {
  if (sent?.rejected !== undefined && sent.rejected.length > 0) {
    const reply: unknown = Reflect.get(Object(sent.rejectedErrors?.[0]), 'responseCode')
    return typeof reply === 'number' ? smtpReplyOutcome(reply) : { outcome: 'rejected', code: 'recipient_rejected' }
  }
  return { outcome: 'sent', ...(sent?.messageId !== undefined && { providerMessageId: sent.messageId }) }
}

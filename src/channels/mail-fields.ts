import type { Content } from '../model/dispatch.ts'
import type { JsonValue } from '../model/json.ts'
import { parseMailbox } from '../model/recipient.ts'
import { MAX_DISPLAY_NAME, MAX_LINE } from './mail-lines.ts'
import { singleLine } from './message-content.ts'

/** A mailbox as a transport takes it. */
export interface Mailbox {
  name: string
  address: string
}

/** A part of a mail besides its text, as the transport gets it. */
export interface MailAttachment {
  filename: string
  content: string
  encoding: 'base64' | 'utf8'
  contentType?: string
  /** `Content-ID`, for `<img src="cid:…">`. */
  cid?: string
  contentDisposition: 'attachment' | 'inline'
}

/** Fields of a mail besides its subject and text. */
export interface MailFields {
  readonly from?: Mailbox
  readonly replyTo?: Mailbox
  readonly cc: readonly Mailbox[]
  readonly bcc: readonly Mailbox[]
  readonly headers: Readonly<Record<string, string>>
  readonly attachments: readonly MailAttachment[]
}

/** Copies of one mail. */
const MAX_COPIES = 50
const MAX_HEADERS = 50
const MAX_ATTACHMENTS = 20
/** All attachments of a mail, decoded. */
const MAX_ATTACHED_BYTES = 262_144

/** Problem of a value of a field. */
class Problem {
  readonly detail: string
  constructor(detail: string) {
    this.detail = detail
  }
}

type Reader<Value> = (value: JsonValue) => Value | Problem

const READERS = {
  from: mailboxOf,
  replyTo: mailboxOf,
  cc: mailboxesOf,
  bcc: mailboxesOf,
  headers: headersOf,
  attachments: attachmentsOf,
}

/** The names of the fields. */
export const MAIL_FIELDS: readonly string[] = Object.keys(READERS)

/** The problem with a field's value, if any. Other fields have none. */
export function mailFieldProblem(field: string, value: JsonValue): string | undefined {
  const read: Reader<unknown> | undefined = Object.hasOwn(READERS, field)
    ? READERS[field as keyof typeof READERS]
    : undefined
  const found = read?.(value)
  return found instanceof Problem ? `${field} ${found.detail}` : undefined
}

/** Reads the fields of rendered content; the name of the first wrong field otherwise. */
export function readMailFields(content: Content): MailFields | string {
  const fields: MailFields = { cc: [], bcc: [], headers: {}, attachments: [] }
  const read: Record<string, unknown> = {}
  for (const [field, reader] of Object.entries(READERS)) {
    const value = content[field]
    // A template may render nothing, such as no address for replies.
    if (value === undefined || value === null || value === '') continue
    const found = reader(value)
    if (found instanceof Problem) return field
    read[field] = found
  }
  return { ...fields, ...read }
}

/** Addresses of the copies in rendered content. None if a field is wrong: such content is not sent. */
export function mailCopies(content: Content): readonly string[] {
  const fields = readMailFields(content)
  return typeof fields === 'string' ? [] : [...fields.cc, ...fields.bcc].map(({ address }) => address)
}

export function withoutCopies(fields: MailFields, addresses: readonly string[] = []): MailFields {
  const isKept = ({ address }: Mailbox): boolean => !addresses.includes(address)
  return { ...fields, cc: fields.cc.filter(isKept), bcc: fields.bcc.filter(isKept) }
}

const NAMED = /^([^<>]*)<([^<>]{1,254})>$/

/** `local@domain`, `Name <local@domain>`, or an object with both parts. */
function mailboxOf(value: JsonValue): Mailbox | Problem {
  const [, named = '', inner] =
    (typeof value === 'string' && value.length <= MAX_LINE && NAMED.exec(value.trim())) || []
  const given = typeof value === 'string' ? { name: unquoted(named.trim()), address: inner ?? value.trim() } : value
  const { name = '', address }: { readonly name?: unknown; readonly address?: unknown } = Object(given)
  const parsed = typeof address === 'string' ? parseMailbox(address) : undefined
  if (parsed === undefined || !isDisplayName(name))
    return new Problem('must be one mailbox: local@domain, Name <local@domain> or { name, address }')
  return { name, address: parsed }
}

/** True for one line without control characters that fits a line of the header. */
export function isDisplayName(name: unknown): name is string {
  return typeof name === 'string' && name.length <= MAX_DISPLAY_NAME && name === singleLine(name)
}

function unquoted(name: string): string {
  return /^"[^"\\]*"$/.test(name) ? name.slice(1, -1) : name
}

function mailboxesOf(value: JsonValue): readonly Mailbox[] | Problem {
  const given: readonly JsonValue[] = Array.isArray(value) ? value : [value as JsonValue]
  if (given.length > MAX_COPIES) return new Problem(`must have at most ${MAX_COPIES} mailboxes`)
  const read = given.map(mailboxOf)
  return read.find((one) => one instanceof Problem) ?? (read as Mailbox[])
}

/** Also `_`: providers take metadata in names such as `X-PM-Metadata-order_id`. */
const HEADER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,75}$/
/** Headers that the channel, the transport or a relay sets. */
const RESERVED =
  /^(?:from|sender|to|cc|bcc|reply-to|subject|date|message-id|mime-version|received|return-path|content-.*|resent-.*|dkim-signature|arc-.*|authentication-results|x-nodemailer.*)$/i

function headersOf(value: JsonValue): Readonly<Record<string, string>> | Problem {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return new Problem('must be an object of texts by name')
  const entries = Object.entries(value)
  if (entries.length > MAX_HEADERS) return new Problem(`must have at most ${MAX_HEADERS} headers`)
  for (const [name, text] of entries) {
    if (!HEADER_NAME.test(name)) return new Problem('must have names of A-Z a-z 0-9 _ -, at most 76 characters')
    if (RESERVED.test(name)) return new Problem(`cannot set ${name}: the channel or the mail system sets it`)
    if (typeof text !== 'string' || text !== singleLine(text) || text.length + name.length + 2 > MAX_LINE)
      return new Problem(`must have a single line without control characters as ${name}`)
  }
  return Object.fromEntries(entries) as Record<string, string>
}

const MEDIA_TYPE = /^[\w.+-]{1,63}\/[\w.+-]{1,63}(?:; ?[\w-]{1,63}=[\w.+-]{1,63})*$/
const CONTENT_ID = /^[\w.+-]{1,64}(?:@[\w.-]{1,128})?$/
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

function attachmentsOf(value: JsonValue): readonly MailAttachment[] | Problem {
  if (!Array.isArray(value) || value.length > MAX_ATTACHMENTS)
    return new Problem(`must be a list of at most ${MAX_ATTACHMENTS} attachments`)
  const read: (MailAttachment | Problem)[] = value.map(attachmentOf)
  const wrong = read.find((one) => one instanceof Problem)
  if (wrong) return wrong
  const attachments = read as MailAttachment[]
  const bytes = attachments.reduce((sum, one) => sum + bytesOf(one), 0)
  return bytes > MAX_ATTACHED_BYTES ? new Problem(`must have at most ${MAX_ATTACHED_BYTES} bytes in all`) : attachments
}

function attachmentOf(value: JsonValue): MailAttachment | Problem {
  const {
    filename,
    content,
    encoding = 'utf8',
    contentType,
    cid,
    ...other
  }: Readonly<Record<string, JsonValue>> = Object(value)
  const unknown = Object.keys(other)
  if (unknown.length > 0) return new Problem(`knows no ${unknown[0]}: filename, content, encoding, contentType, cid`)
  if (typeof filename !== 'string' || !isFilename(filename))
    return new Problem('needs a filename of one line without a path, at most 255 characters')
  if (encoding !== 'utf8' && encoding !== 'base64') return new Problem('has an encoding that is not utf8 or base64')
  if (typeof content !== 'string' || (encoding === 'base64' && !isBase64(content)))
    return new Problem(`has content of ${filename} that is not ${encoding === 'base64' ? 'base64' : 'a text'}`)
  if (contentType !== undefined && !matches(contentType, MEDIA_TYPE))
    return new Problem('has a contentType that is no media type')
  if (cid !== undefined && !matches(cid, CONTENT_ID))
    return new Problem('has a cid that is no Content-ID, such as logo or logo@example.com')
  return {
    ...{ filename, content, encoding, contentDisposition: cid === undefined ? 'attachment' : 'inline' },
    ...(contentType !== undefined && { contentType }),
    ...(cid !== undefined && { cid }),
  }
}

function matches(value: JsonValue, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}

function isFilename(text: string): boolean {
  return text !== '' && text.length <= 255 && text === singleLine(text) && !/[/\\]/.test(text)
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && BASE64.test(text)
}

function bytesOf({ content, encoding }: MailAttachment): number {
  if (encoding === 'utf8') return new TextEncoder().encode(content).length
  return (content.length / 4) * 3 - (content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0)
}

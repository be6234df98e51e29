import { describeThrown } from './thrown.ts'

/** Message and stack of a thrown value, as a log line may hold them. */
export interface ThrownDetails {
  /** Its message, or the text that was thrown. At most 1,000 characters. */
  readonly message?: string
  /** Its stack frames, and those of its causes, each after a line with the name and code of the cause. At most 4,000 characters. */
  readonly stack?: string
}

/**
 * Which messages are included. `own`: that of the value itself. `all`: those of its causes too. `none`: the stack frames alone,
 * since the text of a driver or a provider can quote data.
 */
export type Messages = 'own' | 'all' | 'none'

const MAX_MESSAGE = 1_000
const MAX_STACK = 4_000
/** Characters of a stack that are looked at. */
const MAX_READ = 20_000
const MAX_CAUSES = 5

/** Never throws, whatever a look at the value does. */
export function detailsOf(thrown: unknown, messages: Messages): ThrownDetails {
  const message = messages === 'none' ? undefined : messageOf(thrown)
  const stack = cut(stackOf(thrown, messages === 'all'), MAX_STACK)
  return { ...(message && { message }), ...(stack && { stack }) }
}

function messageOf(thrown: unknown): string {
  const text = typeof thrown === 'string' ? thrown : textOf(thrown, 'message')
  return cut(text, MAX_MESSAGE)
}

/** No half of a surrogate pair is left: what reads a log may refuse the line for it. */
function cut(text: string, max: number): string {
  return text.slice(0, max).toWellFormed()
}

function stackOf(thrown: unknown, withMessages: boolean): string {
  const lines: string[] = []
  let at = thrown
  for (let depth = 0; depth <= MAX_CAUSES && at !== undefined; depth++) {
    if (depth > 0) lines.push(causeLine(at, withMessages))
    lines.push(...framesOf(at))
    at = memberOf(at, 'cause')
  }
  return lines.join('\n')
}

/** Such as `Caused by TypeError ECONNREFUSED: the message`. */
function causeLine(thrown: unknown, withMessage: boolean): string {
  const { cause, causeCode } = describeThrown(thrown)
  const name = causeCode === undefined ? cause : `${cause} ${causeCode}`
  return withMessage ? `Caused by ${name}: ${messageOf(thrown)}` : `Caused by ${name}`
}

/**
 * The frames of a stack, without the message that it begins with, which ends its line. Where the message was changed after the
 * stack was written it cannot be cut off: then the frames at the end are taken, behind the last line that is none.
 */
function framesOf(thrown: unknown): readonly string[] {
  const stack = textOf(thrown, 'stack')
  const message = textOf(thrown, 'message')
  const end = message === '' ? -1 : stack.indexOf(`${message}\n`)
  const isKnown = end >= 0
  const after = isKnown ? stack.slice(end + message.length).slice(0, MAX_READ) : stack.slice(-MAX_READ)
  const lines = after.split('\n')
  const first = isKnown ? 0 : lines.findLastIndex((line) => !isFrame(line)) + 1
  return lines
    .slice(first)
    .filter(isFrame)
    .map((line) => line.trim().replace(QUERY, ''))
}

/** The query of a URL, which can hold data. */
const QUERY = /\?.*(?=:\d+:\d+\)?$)/
const MAX_FRAME = 400
const FRAME = /^ {4}at (?:([^()]+) \((.+)\)|(.+))$/
/** A function, such as `async Shop.order [as text]`. */
const FUNCTION = /^[\p{L}\p{N}_$.#<>[\] ]+$/u
/** A place in a file or a built-in module: anything else may be a line of a message. */
const PLACES: readonly RegExp[] = [
  /^(?:<anonymous>|native|index \d+)$/,
  /^(?:(?:file|https?|webpack-internal):\/\/|[A-Za-z]:[\\/]|[\\/])[^#]*:\d+:\d+$/,
  /^(?:node|internal|ext|bun):[\w./-]+:\d+:\d+$/,
  /^[\w./-]+\.[cm]?[jt]sx?:\d+:\d+$/,
]

function isFrame(line: string): boolean {
  if (line.length > MAX_FRAME) return false
  const [, name, inside, alone] = FRAME.exec(line) ?? []
  const place = inside ?? alone
  if (place === undefined || (name !== undefined && !FUNCTION.test(name))) return false
  return PLACES.some((pattern) => pattern.test(name === undefined ? place.replace(/^async /, '') : place))
}

function textOf(thrown: unknown, member: 'message' | 'stack'): string {
  const text = memberOf(thrown, member)
  return typeof text === 'string' ? text : ''
}

function memberOf(thrown: unknown, member: 'message' | 'stack' | 'cause'): unknown {
  try {
    return typeof thrown === 'object' && thrown !== null ? Reflect.get(thrown, member) : undefined
  } catch {
    return undefined
  }
}

export interface DescribedThrown {
  readonly cause: string
  readonly causeCode?: string
}

const NAME = /^[A-Za-z_$][\w$.-]{0,63}$/
/** A word, or a few digits such as an SQLSTATE. */
const CODE = /^(?:[A-Za-z_][\w.-]*|\d[\dA-Za-z]{0,7})$/
const MAX_CODE = 64

/** Returns name and code, each only in a valid form. Omits the message, which can quote data. Never throws. */
export function describeThrown(thrown: unknown): DescribedThrown {
  try {
    if (!isThrown(thrown, Error)) return unnamed(thrown)
    const name: unknown = thrown.name
    const code = codeOf(thrown)
    return {
      cause: typeof name === 'string' && NAME.test(name) ? name : 'Error',
      ...(code !== undefined && { causeCode: code }),
    }
  } catch {
    return unnamed(thrown)
  }
}

/** `instanceof` that never throws: `false` for a value that throws when it is read. */
export function isThrown<Kind>(thrown: unknown, kind: abstract new (...args: never) => Kind): thrown is Kind {
  try {
    return thrown instanceof kind
  } catch {
    return false
  }
}

function unnamed(thrown: unknown): DescribedThrown {
  return { cause: `a thrown ${typeof thrown}` }
}

function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code')
  if (typeof code !== 'string' && typeof code !== 'number') return undefined
  const text = String(code).slice(0, MAX_CODE)
  return CODE.test(text) ? text : undefined
}

/** Prevents a rejection from ending the process: for host functions that should be synchronous. */
export function ignoreRejection(value: unknown): void {
  if (value instanceof Promise) value.catch(() => {})
}

export interface ThrownDetails {
  /** Its message, or the thrown text. At most 1,000 characters. */
  readonly message?: string
  /** Its stack frames, then those of each cause after a line with the cause's name and code. At most 4,000 characters. */
  readonly stack?: string
}

/** Messages to include: of the value (`own`), also of its causes (`all`), or `none`: driver and provider texts can quote data. */
export type Messages = 'own' | 'all' | 'none'

const MAX_MESSAGE = 1_000
const MAX_STACK = 4_000
const MAX_READ = 20_000
const MAX_CAUSES = 5

/** Returns message and stack of a thrown value. Never throws. */
export function detailsOf(thrown: unknown, messages: Messages): ThrownDetails {
  const message = messages === 'none' ? undefined : messageOf(thrown)
  const stack = cut(stackOf(thrown, messages === 'all'), MAX_STACK)
  return { ...(message && { message }), ...(stack && { stack }) }
}

function messageOf(thrown: unknown): string {
  const text = typeof thrown === 'string' ? thrown : textOf(thrown, 'message')
  return cut(text, MAX_MESSAGE)
}

/** Avoids an unpaired surrogate at the cut: a log reader may refuse the line. */
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

/** Example: `Caused by TypeError ECONNREFUSED: the message`. */
function causeLine(thrown: unknown, withMessage: boolean): string {
  const { cause, causeCode } = describeThrown(thrown)
  const name = causeCode === undefined ? cause : `${cause} ${causeCode}`
  return withMessage ? `Caused by ${name}: ${messageOf(thrown)}` : `Caused by ${name}`
}

/** Frames of a stack, without the message. If its end is unknown, only the frames after the last other line. */
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

/** The query of a URL can hold data. */
const QUERY = /\?.*(?=:\d+:\d+\)?$)/
const MAX_FRAME = 400
const FRAME = /^ {4}at (?:([^()]+) \((.+)\)|(.+))$/
/** A function name, such as `async Shop.order [as text]`. */
const FUNCTION = /^[\p{L}\p{N}_$.#<>[\] ]+$/u
/** Locations in files or built-in modules. Anything else may be a line of a message. */
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

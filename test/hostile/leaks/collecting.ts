import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import type { LogFields, Logger } from '../../../src/ports/logger.ts'
import { consoleLogger } from '../../../src/runtime/console-logger.ts'
import type { Canaries } from './canaries.ts'
import { type Column, readerOf } from './may-hold.ts'

/** All output of a host, by column. */
export interface Collected {
  /** Records each line, and passes it to the default logger too. */
  readonly logger: Logger
  /** Names of the logged events. */
  readonly events: ReadonlySet<string>
  /** @param sent All that the reader of this output has sent so far. */
  keep(column: Column, what: unknown, sent?: string): void
  /** Kinds of secret seen where they may be seen, as `kind: column`. */
  readonly seen: ReadonlySet<string>
  /** Secrets seen where they may not be. */
  readonly leaks: readonly string[]
}

/** Every member of {@link LogFields}; the compiler checks that none is missing. */
const FIELDS = {
  ...{ requestId: true, dispatchId: true, deliveryId: true, runId: true, eventType: true, channel: true },
  ...{ field: true, message: true, stack: true },
  ...{ hook: true, queue: true, code: true, reason: true, detail: true, cause: true, causeCode: true, errors: true },
  ...{ attempt: true, delayMs: true, events: true, inFlight: true, authenticating: true },
  ...{
    unfinished: true,
    unfinishedBytes: true,
    uses: true,
    omitted: true,
    measurements: true,
    timeouts: true,
    pauseMs: true,
  },
  ...{ plugin: true, path: true, givenBack: true, aborted: true, source: true, added: true },
  ...{ dispatches: true, answers: true, cancelled: true, provider: true },
} satisfies Readonly<Record<keyof LogFields, true>>

const guide = readFileSync(new URL('../../../docs/monitoring.md', import.meta.url), 'utf8')

/** Collects until the test ends, then fails on a leak. */
export function collecting(canaries: Canaries): Collected {
  const events = new Set<string>()
  const seen = new Set<string>()
  const leaks: string[] = []

  function keep(column: Column, what: unknown, sent = ''): void {
    const text = textOf(what)
    const own = canaries.in(sent)
    for (const kind of canaries.in(text)) {
      const reader = readerOf(kind, column)
      if (reader === 'host' || (reader === 'sender' && own.includes(kind))) seen.add(`${kind}: ${column}`)
      else leaks.push(`${kind} in ${column}: ${text.slice(0, 2_000)}`)
    }
  }

  const restoreConsole = listenToConsole((line) => keep('process', line))
  const stopListening = listenToProcess((event) => keep('process', event))
  onTestFinished(async () => {
    await new Promise((resolve) => setImmediate(resolve))
    restoreConsole()
    stopListening()
    expect(leaks).toEqual([])
  })

  return {
    ...{ events, keep, seen, leaks },
    logger: {
      log(level, event, fields) {
        events.add(event)
        keep('log', [level, event, fields])
        const unknown = Object.keys(fields).filter((field) => !(field in FIELDS))
        const isListed = guide.includes(`\`${event}\``)
        if (unknown.length > 0 || !isListed) leaks.push(`${event} is not as it is documented: ${unknown.join()}`)
        consoleLogger.log(level, event, fields)
      },
    },
  }
}

/** All printable forms of a value. */
export function textOf(what: unknown): string {
  if (typeof what === 'string') return what
  const ways = [
    () => inspect(what, { depth: 10, showHidden: true, maxArrayLength: null, maxStringLength: null }),
    () => JSON.stringify(what),
    () => String(what),
    () => (what instanceof Error ? [what.name, what.message, what.stack, textOf(what.cause)].join('\n') : ''),
  ]
  return ways.map(orNothing).join('\n')
}

/** Gives an empty text for a value that cannot be printed. */
function orNothing(print: () => string): string {
  try {
    return print()
  } catch {
    return ''
  }
}

const METHODS = ['debug', 'error', 'info', 'log', 'trace', 'warn'] as const

function listenToConsole(onLine: (line: unknown) => void): () => void {
  const before = METHODS.map((method) => [method, console[method]] as const)
  for (const [method] of before) console[method] = (...line: unknown[]) => onLine(line)
  return () => {
    for (const [method, write] of before) console[method] = write
  }
}

function listenToProcess(onEvent: (event: unknown) => void): () => void {
  const names = ['unhandledRejection', 'uncaughtExceptionMonitor', 'warning'] as const
  for (const name of names) process.on(name, onEvent)
  return () => {
    for (const name of names) process.off(name, onEvent)
  }
}

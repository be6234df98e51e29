/**
 * A channel that writes to the console, for development.
 * @module sallyport/channels/log
 */
import { fn } from '../options/checks.ts'
import { type Checks, readOptions } from '../options/read-options.ts'
import type { Channel } from '../ports/channel.ts'
import { plainText, singleLine } from './message-content.ts'

/** Options of {@link log}. */
export interface LogOptions {
  /** Receives one message of several lines. Default: `console.log`. */
  readonly write?: (line: string) => void
}

const CHECKS: Checks<LogOptions> = { write: fn }

/**
 * Prints messages instead of sending them, for development.
 *
 * It reaches every recipient by the id in the dispatch, and accepts any template fields. **It prints personal data**, addresses and
 * content: do not use it where logs are kept. It removes control characters, so that content cannot control a terminal.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function log(options: LogOptions = {}): Channel {
  const { write = (line: string) => console.log(line) } = readOptions('log', options, CHECKS)
  return {
    address: (recipient) => recipient.id,
    async send({ to, eventType, content }, { deliveryId, attempt, signal }) {
      if (signal.aborted) return { outcome: 'retry', code: 'aborted' }
      const head = [
        '[sallyport] log',
        `  to:       ${singleLine(to)}`,
        `  event:    ${singleLine(eventType)}`,
        `  delivery: ${singleLine(deliveryId)} (attempt ${attempt})`,
      ]
      const fields = Object.entries(content).map(([field, value]) => {
        const text = plainText(typeof value === 'string' ? value : JSON.stringify(value, null, 2))
        return `  ${singleLine(field)}: ${text.replaceAll('\n', '\n    ')}`
      })
      write([...head, ...fields].join('\n'))
      return { outcome: 'sent' }
    },
  }
}

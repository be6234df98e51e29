import type { ErrorDetails } from '../core/answers/report-fault.ts'
import { nodeEnv } from '../runtime/node-env.ts'
import type { ReadyPorts } from './defaults.ts'

interface Given extends ReadyPorts {
  readonly errorDetails?: ErrorDetails | undefined
}

const DETAIL =
  'NODE_ENV is development: errors are logged with all messages, which may quote data. Set errorDetails to choose otherwise.'

/** Logs errors in full where `NODE_ENV` is exactly `development`, unless the host chose `errorDetails`; says so in the log. */
export function withErrorDetails<Options extends Given>(given: Options): Options {
  if (given.errorDetails !== undefined || nodeEnv() !== 'development') return given
  given.logger.log('warn', 'errors.in_full', { detail: DETAIL })
  return Object.assign({}, given, { errorDetails: 'full' as const })
}

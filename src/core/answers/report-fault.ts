import { type FaultCode, isSallyportError } from '../../errors.ts'
import { describeThrown, detailsOf, type Messages } from '../../model/thrown.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogFields, Logger } from '../../ports/logger.ts'
import type { LineLimiter } from './line-limiter.ts'

/**
 * The failed operation. `template`, `condition`, `data_schema` and `digest_key` are functions of the catalogue, `run_event` is one
 * of `runEvents`, `channel` is `address` or `send` of a channel, `guard` the check of an address,
 * `plugin` another step of a plugin. `request`: any other error during a request.
 */
export type ErrorOperation =
  | 'template'
  | 'condition'
  | 'data_schema'
  | 'digest_key'
  | 'run_event'
  | 'hook'
  | 'channel'
  | 'directory'
  | 'policy'
  | 'guard'
  | 'redactor'
  | 'price_book'
  | 'exporter'
  | 'auth'
  | 'rate_limiter'
  | 'queue'
  | 'feedback'
  | 'plugin'
  | 'store'
  | 'request'

/** Place of an error, as far as known. */
export interface ErrorContext {
  readonly operation: ErrorOperation
  readonly eventType?: string
  readonly channel?: string
  readonly field?: string
  readonly dispatchId?: string
  readonly deliveryId?: string
  readonly runId?: string
  /** The same as in the answer to the caller. */
  readonly requestId?: string
}

/** Receives errors of host code. */
export interface ErrorHooks {
  /**
   * Receives the original error of any host code, such as a template, a channel or a hook, for Sentry and similar services. The
   * error may contain personal data, which the log omits.
   *
   * Called in the process of the error, once for each failed operation, also in dry runs. It is not awaited, and a call that hangs
   * does not delay others. An invalid value without a throw is reported as a `TypeError`, or of a port as a `SallyportError` with the code
   * `answer_invalid`. Errors that your own call rejects with, such as those of `dispatches.list`, are not reported.
   *
   * Its own errors are only logged, as `hook.threw`; a promise that is pending after ten seconds is logged as `hook.slow`. While a
   * call is pending, for at most these ten seconds, errors of `dispatch` and `dispatches.retry` of this Sallyport are only logged,
   * because the dispatch may be an alert of this function. A later failure of the accepted dispatch is reported.
   */
  readonly onError?: (error: unknown, context: ErrorContext) => unknown
}

/**
 * Details of an error in a log line, besides its name and code.
 *
 * | | functions of templates and conditions, digest keys, run events, hooks | all other parts, engines and data schemas |
 * |---|---|---|
 * | `default` | message, stack frames | stack frames |
 * | `full` | message, stack frames, messages of causes | the same |
 * | `none` | nothing | nothing |
 */
export type ErrorDetails = 'default' | 'full' | 'none'

/** Dependencies of error reporting. */
export interface FaultDeps {
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly hooks?: ErrorHooks | undefined
  /** Default: `default`. `createSallyport` gives `full` in development. */
  readonly errorDetails?: ErrorDetails | undefined
  /** Errors are logged and not passed to `onError`. */
  readonly isSilent?: boolean | undefined
}

/** Code that the host wrote, with its own messages. The other parts are drivers, transports and clients. */
const OWN_CODE: ReadonlySet<ErrorOperation> = new Set(['template', 'condition', 'digest_key', 'run_event', 'hook'])

export type FaultContext = Pick<ErrorContext, 'operation'> & FaultPlace
export type FaultPlace = { readonly [Name in Exclude<keyof ErrorContext, 'operation'>]?: string | undefined }

/** Log line of an error: its level, event and further fields. */
export interface FaultLine {
  readonly level: 'warn' | 'error'
  readonly event: string
  readonly fields?: LogFields
  /** Thrown by a library such as a template engine: its message can quote data. */
  readonly isLibrary?: boolean | undefined
  /** Omits lines of the same fault. Default: all are logged. */
  readonly limiter?: LineLimiter
}

/** Logs an error, which may be any thrown value, and passes it to `onError`. Never throws. */
export function reportFault(error: unknown, context: FaultContext, line: FaultLine, deps: FaultDeps): void {
  const { fields, isLibrary, limiter } = line
  const isOwn = OWN_CODE.has(context.operation) && !isLibrary
  const described = describeFault(error, isOwn, deps.errorDetails)
  const due = limiter ? limiter.admit(`${described.cause} ${described.causeCode}`, deps.clock.now()) : {}
  if (due) logFailure(context, { ...line, fields: { ...fields, ...described, ...due } }, deps)
  callOnError(error, context, deps)
}

/** Logs a failure that no error caused, or one whose error was reported. */
export function logFailure({ operation, ...place }: FaultContext, line: FaultLine, { logger }: FaultDeps): void {
  const { level, event, fields } = line
  logger.log(level, event, { ...present(place), ...fields })
}

function describeFault(
  error: unknown,
  isOwn: boolean,
  details: ErrorDetails = 'default',
): Pick<LogFields, 'cause' | 'causeCode' | 'message' | 'stack'> {
  // Sallyport's own errors quote no data.
  const isOurs = isSallyportError(error)
  const described = isOurs ? { cause: error.message, causeCode: error.code } : describeThrown(error)
  if (details === 'none') return described
  const messages: Messages = details === 'full' ? 'all' : isOwn && !isOurs ? 'own' : 'none'
  const { message, ...stack } = detailsOf(error, messages)
  // The cause of an error of ours is its message.
  return { ...described, ...(message !== undefined && !isOurs && { message }), ...stack }
}

const PATIENCE_MS = 10_000

interface ErrorCalls {
  /** The call has not returned yet, so a report now comes from inside it. */
  isRunning: boolean
  /** Cancel functions of the time-outs of pending promises. A promise counts as pending until its time-out. */
  readonly pending: Set<() => void>
}

const CALLS = /* @__PURE__ */ new WeakMap<ErrorHooks, ErrorCalls>()

/** Only logs errors of a host call while `onError` is running: the call may come from it. A failed alert must raise no alert. */
export function forHostCall<Deps extends FaultDeps>(deps: Deps): Deps {
  const calls = deps.hooks && CALLS.get(deps.hooks)
  return calls && (calls.isRunning || calls.pending.size > 0) ? { ...deps, isSilent: true } : deps
}

function callOnError(error: unknown, context: FaultContext, deps: FaultDeps): void {
  const { hooks, logger, clock } = deps
  if (!hooks?.onError || deps.isSilent) return
  const calls = CALLS.get(hooks) ?? { isRunning: false, pending: new Set() }
  if (calls.isRunning) return
  CALLS.set(hooks, calls)
  const failed = (cause: unknown): void =>
    logger.log('error', 'hook.threw', { hook: 'onError', ...describeFault(cause, true, deps.errorDetails) })
  calls.isRunning = true
  try {
    const given: unknown = hooks.onError(originalOf(error, context), present(context))
    if (typeof given !== 'object' || given === null || !('then' in given)) return
    const cancel = clock.after(PATIENCE_MS, () => {
      calls.pending.delete(cancel)
      logger.log('warn', 'hook.slow', { hook: 'onError' })
    })
    calls.pending.add(cancel)
    Promise.resolve(given)
      .catch(failed)
      .finally(() => {
        cancel()
        calls.pending.delete(cancel)
      })
  } catch (cause) {
    failed(cause)
  } finally {
    calls.isRunning = false
  }
}

/** Codes of errors that say which function threw; their cause is the original. */
const WRAPPING: { readonly [Operation in ErrorOperation]?: FaultCode } = {
  price_book: 'option_invalid',
  channel: 'answer_invalid',
}

function originalOf(error: unknown, { operation }: FaultContext): unknown {
  const isWrapped = isSallyportError(error) && error.code === WRAPPING[operation] && error.cause !== undefined
  return isWrapped ? error.cause : error
}

function present<Fields extends object>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>
}

type Present<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> }

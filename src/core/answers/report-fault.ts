import { isSallyportError } from '../../errors.ts'
import { describeThrown, detailsOf, type Messages } from '../../model/thrown.ts'
import type { Clock } from '../../ports/clock.ts'
import type { LogFields, Logger } from '../../ports/logger.ts'

/**
 * What failed. `template`, `condition`, `data_schema` and `digest_key` are functions of the catalogue, `run_event` is one of
 * `runEvents`, `channel` is `address` or `send` of one. `request`: anything else that kept a request from being answered.
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
  | 'redactor'
  | 'price_book'
  | 'exporter'
  | 'auth'
  | 'rate_limiter'
  | 'queue'
  | 'store'
  | 'request'

/** Where an error happened, as far as it is known there. */
export interface ErrorContext {
  readonly operation: ErrorOperation
  /** Names of the catalogue, as the host gave them. */
  readonly eventType?: string
  readonly channel?: string
  /** The template field. */
  readonly field?: string
  readonly dispatchId?: string
  readonly deliveryId?: string
  readonly runId?: string
  /** As in the answer that the caller got. */
  readonly requestId?: string
}

/** Receives errors of host code. */
export interface ErrorHooks {
  /**
   * Receives what was thrown by a template, a condition, an event function, a channel, a hook or any other part of the host, as it
   * was thrown: for Sentry and its like. The error may hold personal data, which the log leaves out.
   *
   * Called in the process where it happened, once for each operation that failed, also in dry runs; nothing waits for it, and one call
   * that hangs keeps no other back. A part that gave what it may not, without throwing, is reported as a `TypeError`. An error that a
   * caller of the library gets itself, such as one that `dispatches.list` rejects with, is not reported.
   *
   * What it throws or rejects with is logged as `hook.threw` and passed to no hook; a promise that has not settled after ten seconds is
   * logged as `hook.slow`. Until then, a `dispatch` or `dispatches.retry` of this Sallyport that is called only logs its errors, since it
   * may be an alert that this function sends. One that is accepted and fails when it is delivered is reported as any other.
   */
  readonly onError?: (error: unknown, context: ErrorContext) => unknown
}

/**
 * How much of an error a log line holds besides its name and code.
 *
 * | | functions of templates and conditions, digest keys, run events, hooks | all other parts, engines and data schemas |
 * |---|---|---|
 * | `default` | message, stack frames | stack frames |
 * | `full` | message, stack frames, messages of causes | the same |
 * | `none` | nothing | nothing |
 */
export type ErrorDetails = 'default' | 'full' | 'none'

/** What reporting an error needs. */
export interface FaultDeps {
  readonly logger: Logger
  readonly clock: Pick<Clock, 'after'>
  readonly hooks?: ErrorHooks | undefined
  /** Default: `default`. */
  readonly errorDetails?: ErrorDetails | undefined
  /** Errors are only logged. */
  readonly isSilent?: boolean | undefined
}

/** Code of the host's own: its messages are its own too. The other parts are drivers, transports and clients. */
const OWN_CODE: ReadonlySet<ErrorOperation> = new Set(['template', 'condition', 'digest_key', 'run_event', 'hook'])

/** {@link ErrorContext} as it is put together. */
export type FaultContext = Pick<ErrorContext, 'operation'> & FaultPlace
export type FaultPlace = { readonly [Name in Exclude<keyof ErrorContext, 'operation'>]?: string | undefined }

/** A log line, beside the error that it is about. */
export interface FaultLine {
  readonly level: 'warn' | 'error'
  /** The name of the log event. */
  readonly event: string
  readonly fields?: LogFields
  /** A library threw it, such as a template engine: its message can quote data, and is treated as that of a port. */
  readonly isLibrary?: boolean | undefined
}

/** Logs an error and passes it to `onError`. Never throws. */
export function reportFault(error: unknown, context: FaultContext, line: FaultLine, deps: FaultDeps): void {
  const { operation, ...place } = context
  const { level, event, fields, isLibrary } = line
  const isOwn = OWN_CODE.has(operation) && !isLibrary
  deps.logger.log(level, event, { ...fields, ...present(place), ...describeFault(error, isOwn, deps.errorDetails) })
  callOnError(error, context, deps)
}

/** The fields of a log line that describe an error: its name and code, and what {@link ErrorDetails} allows. */
function describeFault(
  error: unknown,
  isOwn: boolean,
  details: ErrorDetails = 'default',
): Pick<LogFields, 'cause' | 'causeCode' | 'message' | 'stack'> {
  if (error === undefined) return {}
  // The message of an error of Sallyport's own quotes nothing.
  const isOurs = isSallyportError(error)
  const described = isOurs ? { cause: error.message, causeCode: error.code } : describeThrown(error)
  if (details === 'none') return described
  const messages: Messages = details === 'full' ? 'all' : isOwn && !isOurs ? 'own' : 'none'
  return { ...described, ...detailsOf(error, messages) }
}

const PATIENCE_MS = 10_000

/** Calls of one `onError`. */
interface ErrorCalls {
  /** It has not returned: whatever is reported now comes from within. */
  isRunning: boolean
  /** For each whose promise has not settled yet, what calls off its ten seconds. After these it is not pending any more. */
  readonly pending: Set<() => void>
}

const CALLS = /* @__PURE__ */ new WeakMap<ErrorHooks, ErrorCalls>()

/**
 * The dependencies of a call that the host makes. While a call of `onError` is under way, the host may be making it from there: its
 * errors are only logged then, so that an alert that fails raises no alert.
 */
export function forHostCall<Deps extends FaultDeps>(deps: Deps): Deps {
  const calls = deps.hooks && CALLS.get(deps.hooks)
  return calls && (calls.isRunning || calls.pending.size > 0) ? { ...deps, isSilent: true } : deps
}

/** Calls `onError`, unless it is called already. One that hangs keeps no other error back. */
function callOnError(error: unknown, context: FaultContext, deps: FaultDeps): void {
  const { hooks, logger, clock } = deps
  if (error === undefined || !hooks?.onError || deps.isSilent) return
  const calls = CALLS.get(hooks) ?? { isRunning: false, pending: new Set() }
  if (calls.isRunning) return
  CALLS.set(hooks, calls)
  const failed = (cause: unknown): void =>
    logger.log('error', 'hook.threw', { hook: 'onError', ...describeFault(cause, true, deps.errorDetails) })
  calls.isRunning = true
  try {
    const given: unknown = hooks.onError(originalOf(error, context), present(context))
    if (typeof given !== 'object' || given === null || !('then' in given)) return
    const callOff = clock.after(PATIENCE_MS, () => {
      calls.pending.delete(callOff)
      logger.log('warn', 'hook.slow', { hook: 'onError' })
    })
    calls.pending.add(callOff)
    Promise.resolve(given)
      .catch(failed)
      .finally(() => {
        callOff()
        calls.pending.delete(callOff)
      })
  } catch (cause) {
    failed(cause)
  } finally {
    calls.isRunning = false
  }
}

/** What a price book threw is wrapped on its way through the store. */
function originalOf(error: unknown, { operation }: FaultContext): unknown {
  return operation === 'price_book' && isSallyportError(error) && error.cause !== undefined ? error.cause : error
}

/** Without the members that are undefined. */
function present<Fields extends object>(fields: Fields): Present<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<Fields>
}

type Present<Fields> = { [Name in keyof Fields]: Exclude<Fields[Name], undefined> }

import type { DispatchAnswer, DispatchInput, DispatchPreview } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { SessionRunBatchAnswer } from '../model/run-batch.ts'
import type { RunAnswer, SessionRunRequest } from '../model/run-post.ts'
import type { TokenExchange, TokenExchangeAnswer } from '../model/token-exchange.ts'
import { like } from '../options/checks.ts'
import type { Checks } from '../options/read-options.ts'
import type { EventCatalog } from '../ports/event-catalog.ts'
import { type CallOptions, type ClientOptions, callerOf, SIGNAL_CHECKS } from './caller.ts'
import { checkOptions } from './check-options.ts'

/** Options of one dispatch. */
export interface DispatchOptions extends CallOptions {
  /** 1-255 visible ASCII characters. A second call with the same key gets the first answer. Default: a UUID per call. */
  readonly idempotencyKey?: string
}

/** Events of a catalogue, each with its data; any event if the catalogue is unknown. */
export type EventsOf<Catalog> =
  Catalog extends EventCatalog<infer Events>
    ? unknown extends Events
      ? Record<string, JsonObject>
      : Events
    : Record<string, JsonObject>

/**
 * Calls the endpoints of a Sallyport server. Methods reject with a {@link ClientError}, the reason of the signal, the error of the token
 * function, or a TypeError for content that is not JSON.
 */
export interface Client<Events = Record<string, JsonObject>> {
  /** Dispatches an event. Retries share one `Idempotency-Key`, so that it is dispatched once. */
  dispatch<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: DispatchOptions,
  ): Promise<DispatchAnswer>
  /** Dry run: returns the planned result of a dispatch. Stores and sends nothing. */
  preview<Type extends keyof Events & string>(
    event: DispatchInput<Events, Type>,
    options?: CallOptions,
  ): Promise<DispatchPreview>
  /** Reports data of one run. */
  recordRun(post: SessionRunRequest, options?: CallOptions): Promise<RunAnswer>
  /** Reports data of many runs: 1 to 100 posts. Each gets its own answer, without `run`. */
  recordRuns(posts: readonly SessionRunRequest[], options?: CallOptions): Promise<SessionRunBatchAnswer>
  /** Exchanges the client's session token for a narrower one, for a sub-agent. */
  exchangeToken(exchange: TokenExchange, options?: CallOptions): Promise<TokenExchangeAnswer>
}

/**
 * Creates a client, typed by a catalogue: `createClient<typeof events>({ baseUrl, token })`, where `events` may be imported as a type.
 *
 * @throws {ClientError} `option_invalid`, with all problems of the options.
 */
export function createClient<Catalog = unknown>(options: ClientOptions): Client<EventsOf<Catalog>> {
  const caller = callerOf('createClient', options)
  const call = async <Answer>(path: string, content: unknown, options: DispatchOptions = {}): Promise<Answer> => {
    checkOptions(path, options, CALL_CHECKS)
    const headers = {
      ...(path === DISPATCH && { 'idempotency-key': options.idempotencyKey ?? crypto.randomUUID() }),
      ...(path === BATCH && { prefer: 'return=minimal' }),
    }
    return caller({ path, content, headers, member: path === EXCHANGE ? 'token' : 'warnings' }, options)
  }
  return {
    dispatch: (event, options) => call<DispatchAnswer>(DISPATCH, event, options),
    preview: (event, options) => call<DispatchPreview>(`${DISPATCH}?dryRun=true`, event, options),
    recordRun: (run, options) => call<RunAnswer>(RUN, run, options),
    recordRuns: (runs, options) => call<SessionRunBatchAnswer>(BATCH, { runs }, options),
    exchangeToken: (exchange, options) => call<TokenExchangeAnswer>(EXCHANGE, exchange, options),
  }
}

const DISPATCH = 'outbound/dispatch'
const RUN = 'agents/session/run'
const BATCH = `${RUN}/batch`
const EXCHANGE = 'agents/session/token'

const CALL_CHECKS: Checks<DispatchOptions> = {
  ...SIGNAL_CHECKS,
  idempotencyKey: like(/^[!-~]{1,255}$/, 'must be 1-255 visible ASCII characters'),
}

import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun } from '../client/recorded-run.ts'
import { fn, has, word } from '../options/checks.ts'
import { type Checks, isRecord, required } from '../options/read-options.ts'
import { jsonFeed } from './json-feed.ts'
import { MODEL_APIS, type ModelAnswer, type ModelApi } from './model-answer.ts'
import { type EndModelCall, isFailure, startModelCall } from './model-call.ts'
import { knownText, untypedMembers } from './untyped.ts'
import { watchedStream } from './watched-stream.ts'

/** Options of {@link recordingFetch}. */
export interface RecordingFetchOptions {
  /** Sends the calls. Default: the `fetch` of the runtime, looked up at each call. */
  readonly fetch?: typeof fetch | undefined
  /** The provider's name in price tables. Default: `openai`, `anthropic` or `google`, by the API of the call. */
  readonly provider?: string | undefined
}

const CHECKS: Checks<RecordingFetchOptions & { readonly run: RecordedRun }> = {
  run: required(has('a run of recorder.start(…)', 'update', 'add')),
  fetch: fn,
  provider: word,
}

/**
 * Records the model calls of an OpenAI, Anthropic or Google GenAI client, or of any client with the same API:
 * `openai.withOptions({ fetch: recordingFetch(run) })`.
 *
 * Counts `modelCalls` (answered calls), `retries` (by the header of the first two clients), reported tokens, `modelErrors` (refused, unreachable
 * or broken off; not aborted) and `unmeteredCalls` (answered without tokens). Reports the requested and the answering model,
 * `finishReason`, `serviceTier`, `modelMs`, the first token of a streamed answer, and `usageByModel` for several models or tiers.
 *
 * Records POSTs to `…/chat/completions`, `…/completions`, `…/responses`, `…/v1/messages`, `…:generateContent` and
 * `…:streamGenerateContent`, and passes all other requests through.
 * Requests are unchanged. A response is a new one with the same bytes, at the reader's pace, without a BYOB reader. Does not record
 * prompts or outputs, nor the model of a `Request`, which is only in its body. Does not end the run.
 * @throws {ClientError} `option_invalid`, with all problems of the arguments.
 */
export function recordingFetch(run: RecordedRun, options: RecordingFetchOptions = {}): typeof fetch {
  checkOptions('recordingFetch', isRecord(options) ? { ...options, run } : options, CHECKS)
  const { fetch: own, provider } = options
  return async (input, init) => {
    const send = own ?? fetch
    const { url, method, headers, signal } = askedOf(input, init)
    const call = method.toUpperCase() === 'POST' ? callAt(url) : undefined
    if (call === undefined) return send(input, init)

    const { api, model = modelOf(init?.body) } = call
    const end = startModelCall(run, provider ?? api.provider, model)
    if (Number(new Headers(headers).get('x-stainless-retry-count')) > 0) run.add({ retries: 1 })
    let response: Response
    try {
      response = await send(input, init)
    } catch (error) {
      end({ failed: isFailure(error, signal) })
      throw error
    }
    if (response.ok) return recorded(response, { run, api, end, signal })
    end({ failed: true })
    return response
  }
}

interface Asked {
  readonly url: string
  readonly method: string
  readonly headers: RequestInit['headers'] | undefined
  readonly signal: AbortSignal | undefined
}

/** The request as `fetch` reads it: members of `init` replace those of a `Request`. */
function askedOf(input: string | URL | Request, init: RequestInit | undefined): Asked {
  const { url = String(input), method = 'GET', headers, signal }: Partial<Request> = Object(input)
  return { url, method, headers, signal, ...knownText(init ?? {}) }
}

interface Call {
  readonly api: ModelApi
  /** The model of the path. */
  readonly model?: string | undefined
}

function callAt(url: string): Call | undefined {
  const [path = ''] = url.split(/[?#]/, 1)
  for (const api of MODEL_APIS) {
    const found = api.path.exec(path)
    if (found) return { api, model: found.groups?.model }
  }
  return undefined
}

function modelOf(body: unknown): unknown {
  try {
    return untypedMembers(JSON.parse(String(body))).model
  } catch {
    return undefined
  }
}

interface Recording {
  readonly run: RecordedRun
  readonly api: ModelApi
  readonly end: EndModelCall
  readonly signal: AbortSignal | null | undefined
}

function recorded(response: Response, { run, api, end, signal }: Recording): Response {
  const answer: ModelAnswer = {}
  const isStreamed = /^text\/event-stream/i.test(response.headers?.get('content-type') ?? '')
  const feed = jsonFeed(isStreamed, (value) => api.read(answer, value))
  let hasEnded = false
  const finish = (failed: boolean | undefined): void => {
    if (!hasEnded) end({ ...answer, answered: true, failed })
    hasEnded = true
  }
  const body = watchedStream(response.body, {
    see(chunk) {
      feed.write(chunk)
      if (answer.hasContent) run.firstToken()
      // Google's client neither reads on nor cancels.
      if (answer.failed) finish(true)
    },
    end(error) {
      feed.end()
      finish(answer.failed || (error !== undefined && isFailure(error, signal)))
    },
  })
  // A host's fetch may return another kind of body, none, or one that is already read.
  if (body === undefined) return response
  // A new Response has no URL.
  return Object.defineProperty(new Response(body, response), 'url', { value: response.url })
}

import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun } from '../client/recorded-run.ts'
import { fn, has, word } from '../options/checks.ts'
import { type Checks, isRecord, required } from '../options/read-options.ts'
import { jsonFeed } from './json-feed.ts'
import { MODEL_APIS, type ModelAnswer, type ModelApi } from './model-answer.ts'
import { type EndModelCall, isFailure, startModelCall } from './model-call.ts'
import { knownText, untypedMembers } from './untyped.ts'
import { watchedStream } from './watched-stream.ts'

/** How calls are made, and whose they are. */
export interface RecordingFetchOptions {
  /** Makes the calls. Default: the `fetch` of the runtime, as it is at the time of each call. */
  readonly fetch?: typeof fetch | undefined
  /** Who answers, as prices name it. Default: `openai` or `anthropic`, by the API that is spoken. */
  readonly provider?: string | undefined
}

const CHECKS: Checks<RecordingFetchOptions & { readonly run: RecordedRun }> = {
  run: required(has('update', 'add')),
  fetch: fn,
  provider: word,
}

/**
 * Records the model calls of an OpenAI or Anthropic client, or of any that speaks as they do:
 * `openai.withOptions({ fetch: recordingFetch(run) })`.
 *
 * Counts `modelCalls` (those that were answered), `retries` (by the header of these clients), tokens as the answer tells them,
 * `modelErrors` (refused, unreachable or broken off; an aborted call is none) and `unmeteredCalls` (answered without a word
 * about tokens). Tells the models asked and answering, `finishReason`, `modelMs`, the first token of a streamed answer, and
 * `usageByModel` once there are several models.
 *
 * Looks at POSTs to `…/chat/completions`, `…/completions`, `…/responses` and `…/v1/messages`; all else passes by. Requests are
 * passed on untouched; an answer is made anew around the same bytes, at the reader's pace, without a BYOB reader. Of a prompt or
 * an output nothing is recorded; of a `Request` not the model that it asks for, which only its body knows. Does not end the run.
 *
 * @throws {ClientError} `option_invalid`, with all that is wrong with the arguments.
 */
export function recordingFetch(run: RecordedRun, options: RecordingFetchOptions = {}): typeof fetch {
  checkOptions('recordingFetch', isRecord(options) ? { ...options, run } : options, CHECKS)
  const { fetch: own, provider } = options
  return async (input, init) => {
    const send = own ?? fetch
    const { url, method, headers, signal } = askedOf(input, init)
    const api = method.toUpperCase() === 'POST' ? apiAt(url) : undefined
    if (api === undefined) return send(input, init)

    const end = startModelCall(run, provider ?? api.provider, modelOf(init?.body))
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

/** What is asked for, as `fetch` takes it: what is in `init` goes before what is in a `Request`, which alone has any of these. */
function askedOf(input: string | URL | Request, init: RequestInit | undefined): Asked {
  const { url = String(input), method = 'GET', headers, signal }: Partial<Request> = Object(input)
  return { url, method, headers, signal, ...knownText(init ?? {}) }
}

function apiAt(url: string): ModelApi | undefined {
  const [path = ''] = url.split(/[?#]/, 1)
  return MODEL_APIS.find((api) => api.path.test(path))
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

/** The same response, whose body is looked at as it is read. */
function recorded(response: Response, { run, api, end, signal }: Recording): Response {
  const answer: ModelAnswer = {}
  const isStreamed = /^text\/event-stream/i.test(response.headers?.get('content-type') ?? '')
  const feed = jsonFeed(isStreamed, (value) => {
    api.read(answer, value)
    if (answer.usage) answer.tokens = api.tokens(answer.usage)
  })
  const body = watchedStream(response.body, {
    see(chunk) {
      feed.write(chunk)
      if (answer.hasContent) run.firstToken()
    },
    end(error) {
      feed.end()
      const failed = answer.failed || (error !== undefined && isFailure(error, signal))
      end({ ...answer, answered: true, failed })
    },
  })
  // What a fetch of the host's own gives may have another kind of body, or none, or have it read already.
  if (body === undefined) return response
  // A response that is made anew has forgotten where it is from.
  return Object.defineProperty(new Response(body, response), 'url', { value: response.url })
}

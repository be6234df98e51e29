import { checkOptions } from '../client/check-options.ts'
import type { RecordedRun } from '../client/recorded-run.ts'
import { has } from '../options/checks.ts'
import { required } from '../options/read-options.ts'
import { addTime, type EndModelCall, isFailure, type ModelCallEnd, startModelCall } from './model-call.ts'
import { ignoringErrors, untypedMembers } from './untyped.ts'
import { watchedStream } from './watched-stream.ts'

/** As much of a language model of the AI SDK as is used. */
export interface RecordableModel {
  /** Such as `openai.responses`: what stands before the first dot is the run's provider. */
  readonly provider: string
  readonly modelId: string
  doGenerate(options: never): PromiseLike<AnswerOfModel & { readonly content: readonly PartOfAnswer[] }>
  doStream(options: never): PromiseLike<{ readonly stream: ReadableStream<PartOfAnswer> }>
}

/** What a model tells about its answer. */
export interface AnswerOfModel {
  readonly usage: {
    readonly inputTokens: {
      readonly total: number | undefined
      readonly cacheRead: number | undefined
      readonly cacheWrite: number | undefined
    }
    readonly outputTokens: { readonly total: number | undefined; readonly reasoning: number | undefined }
  }
  readonly finishReason: { readonly unified: string }
  readonly response?: { readonly modelId?: string | undefined } | undefined
}

/** A part of what a model or a step gave. */
export interface PartOfAnswer {
  readonly type: string
}

/** What is spread into a call or an agent. */
export interface AiSdkSettings<Model> {
  /** The model that was given, its calls recorded. */
  readonly model: Model
  readonly experimental_telemetry: { readonly integrations: AiSdkIntegration }
}

/** What the AI SDK tells as it goes. */
export interface AiSdkIntegration {
  onStepFinish(step: { readonly content: readonly PartOfAnswer[] }): void
  onToolCallFinish(call: { readonly durationMs: number }): void
  /** The name of the same in AI SDK 7. */
  onToolExecutionEnd(call: { readonly toolExecutionMs: number }): void
}

/**
 * Records what the AI SDK does: `generateText({ ...aiSdk(run, openai('gpt-5')), prompt })`. For `streamText` and
 * `new ToolLoopAgent(…)` too, and with `Output.object(…)`. The model is wrapped, since only there each attempt, the first
 * token and an abort are seen; steps and tools are told by the SDK, as telemetry, so that no callback of yours is replaced.
 *
 * Counts `modelCalls` (those that were answered), `retries`, tokens, `steps`, `toolCalls`, `toolErrors`, `modelErrors` (an
 * aborted call is none) and `unmeteredCalls` (answered without a word about tokens, as when a stream is left half-read). Tells
 * the models asked and answering, `finishReason`, `modelMs`, `toolMs`, the first token of a stream, and `usageByModel` once
 * there are several models. Of a prompt or an output nothing is recorded.
 *
 * Telemetry settings of your own would take the place of these: put `experimental_telemetry.integrations` of what this gives
 * among your own. Does not end the run.
 *
 * @throws {ClientError} `option_invalid`, with all that is wrong with the arguments.
 */
export function aiSdk<Model extends RecordableModel>(run: RecordedRun, model: Model): AiSdkSettings<Model> {
  checkOptions(
    'aiSdk',
    { run, model },
    { run: required(has('update', 'add')), model: required(has('doGenerate', 'doStream')) },
  )
  return {
    model: recordedModel(run, model),
    experimental_telemetry: {
      integrations: {
        onStepFinish({ content }) {
          const toolErrors = content.filter(({ type }) => type === 'tool-error').length
          run.add({ steps: 1, ...(toolErrors > 0 && { toolErrors }) })
        },
        onToolCallFinish: ({ durationMs }) => addTime(run, 'toolMs', durationMs),
        onToolExecutionEnd: ({ toolExecutionMs }) => addTime(run, 'toolMs', toolExecutionMs),
      },
    },
  }
}

/** What a model is called with, as far as it matters here. */
interface CallOptions {
  readonly prompt: object
  readonly abortSignal?: AbortSignal | undefined
}

function recordedModel<Model extends RecordableModel>(run: RecordedRun, model: Model): Model {
  const [provider = ''] = model.provider.split('.', 1)
  const asked = new WeakSet<object>()

  const countTool = ({ type }: PartOfAnswer): void => {
    if (type === 'tool-call') run.add({ toolCalls: 1 })
  }

  const attempt = async <Answer>(
    { prompt, abortSignal }: CallOptions,
    ask: () => PromiseLike<Answer>,
    answered: (answer: Answer, end: EndModelCall) => Answer,
  ): Promise<Answer> => {
    const end = startModelCall(run, provider, model.modelId)
    // A step has its prompt made once, and sends that same one again.
    if (asked.has(prompt)) run.add({ retries: 1 })
    asked.add(prompt)
    let answer: Answer
    try {
      answer = await ask()
    } catch (error) {
      end({ failed: isFailure(error, abortSignal) })
      throw error
    }
    return answered(answer, end)
  }

  const doGenerate = (options: CallOptions) =>
    attempt(
      options,
      () => model.doGenerate(options as never),
      (answer, end) => {
        ignoringErrors(() => answer.content.forEach(countTool))
        end({ ...endOf(answer), answered: true })
        return answer
      },
    )

  const doStream = (options: CallOptions) =>
    attempt(
      options,
      () => model.doStream(options as never),
      (answer, end) => {
        const seen: { -readonly [Fact in keyof ModelCallEnd]: ModelCallEnd[Fact] } = { answered: true }
        const failed = (error: unknown) => isFailure(error, options.abortSignal)
        const stream = watchedStream(answer?.stream, {
          see(part) {
            const { type } = part
            if (type.endsWith('-delta') || type === 'tool-call') run.firstToken()
            countTool(part)
            if (type === 'response-metadata') seen.responseModel ??= untypedMembers(part).modelId
            if (type === 'error') seen.failed = failed(untypedMembers(part).error)
            if (type === 'finish') Object.assign(seen, { ...endOf(part), responseModel: seen.responseModel })
          },
          end: (error) => end(error === undefined ? seen : { ...seen, failed: failed(error) }),
        })
        return stream ? { ...answer, stream } : answer
      },
    )

  // A copy is what the proxy stands before: it could not say otherwise than a frozen model does.
  const copy: Model = Object.setPrototypeOf({ ...model }, Object.getPrototypeOf(model))
  return new Proxy(copy, {
    get(_, key) {
      if (key === 'doGenerate') return doGenerate
      if (key === 'doStream') return doStream
      const member: unknown = Reflect.get(model, key)
      return typeof member === 'function' ? member.bind(model) : member
    },
  })
}

/** What an answer, or the last part of a stream, tells of its call. The totals of the AI SDK include the cache and the reasoning. */
function endOf(answer: unknown): ModelCallEnd {
  const { usage, finishReason, response } = untypedMembers(answer)
  const { inputTokens, outputTokens } = untypedMembers(usage)
  const input = untypedMembers(inputTokens)
  const output = untypedMembers(outputTokens)
  return {
    tokens: {
      inputTokens: input.total,
      cacheReadTokens: input.cacheRead,
      cacheWriteTokens: input.cacheWrite,
      outputTokens: output.total,
      reasoningTokens: output.reasoning,
    },
    finishReason: untypedMembers(finishReason).unified,
    responseModel: untypedMembers(response).modelId,
  }
}

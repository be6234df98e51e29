import { tierOf } from '../model/service-tier.ts'
import { joinCounts } from '../usage/join-counts.ts'
import { type Members, untypedMembers } from './untyped.ts'

export interface ModelAnswer {
  responseModel?: unknown
  finishReason?: unknown
  /** The usage object of the provider. That of a stream grows: the greatest of each count. */
  usage?: Members
  serviceTier?: string | undefined
  /** The answer reports an error. */
  failed?: boolean
  /** Some output of the model has arrived. */
  hasContent?: boolean
}

/** A model API: the paths of its calls, and a reader of its answers. */
export interface ModelApi {
  readonly provider: string
  /** The path of a call. A group named `model` is the requested model; without one, the model is in the request's body. */
  readonly path: RegExp
  /** Reads a whole answer, or one event of a stream. */
  read(answer: ModelAnswer, value: Members): void
}

/** Adds the usage that an answer or an event reports. Some report it several times, and some then with zeros, or empty. */
function addUsage(answer: ModelAnswer, usage: unknown): void {
  const added = untypedMembers(usage)
  if (Object.keys(added).length > 0) answer.usage = joinCounts(answer.usage ?? {}, added, Math.max)
}

const openAI: ModelApi = {
  provider: 'openai',
  path: /\/(?:chat\/)?completions$|\/responses(?:\/compact)?$/,
  read(answer, value) {
    const type = String(value.type)
    const body = 'response' in value ? untypedMembers(value.response) : value
    const choice = untypedMembers(untypedMembers(body.choices)[0])
    answer.responseModel = body.model ?? answer.responseModel
    answer.finishReason =
      choice.finish_reason ??
      untypedMembers(body.incomplete_details).reason ??
      (body.status === 'completed' ? body.status : answer.finishReason)
    answer.serviceTier = tierOf(body) ?? answer.serviceTier
    addUsage(answer, body.usage ?? untypedMembers(body.x_groq).usage)
    if (type === 'error' || body.error) answer.failed = true
    if (type.endsWith('.delta') || choice.text || isWritten(untypedMembers(choice.delta))) answer.hasContent = true
  },
}

const anthropic: ModelApi = {
  provider: 'anthropic',
  path: /\/v1\/messages$/,
  read(answer, value) {
    const { type, delta } = value
    const isStart = type === 'message_start'
    const body = isStart ? untypedMembers(value.message) : value
    answer.responseModel = body.model ?? answer.responseModel
    answer.finishReason = body.stop_reason ?? untypedMembers(delta).stop_reason ?? answer.finishReason
    // The start of a message reports its first output tokens, only the end reports all.
    const { output_tokens, ...early } = untypedMembers(body.usage)
    addUsage(answer, isStart ? early : body.usage)
    if (type === 'error') answer.failed = true
    if (type === 'content_block_delta') answer.hasContent = true
  },
}

const gemini: ModelApi = {
  provider: 'google',
  path: /\/(?<model>[^/]+):(?:g|streamG)enerateContent$/,
  read(answer, value) {
    const candidate = untypedMembers(untypedMembers(value.candidates)[0])
    answer.responseModel = value.modelVersion ?? answer.responseModel
    answer.finishReason =
      candidate.finishReason ?? untypedMembers(value.promptFeedback).blockReason ?? answer.finishReason
    addUsage(answer, value.usageMetadata)
    if (value.error) answer.failed = true
    if (untypedMembers(untypedMembers(candidate.content).parts)[0]) answer.hasContent = true
  },
}

export const MODEL_APIS: readonly ModelApi[] = [openAI, anthropic, gemini]

function isWritten({ role: _, ...written }: Members): boolean {
  return Object.values(written).some((part) => part && untypedMembers(part).length !== 0)
}

import { anthropicTokens, openAITokens, type TokensReported } from './token-counts.ts'
import { knownText, type Members, untypedMembers } from './untyped.ts'

/** What has been read of a model's answer. */
export interface ModelAnswer {
  responseModel?: unknown
  finishReason?: unknown
  usage?: Members
  tokens?: TokensReported
  /** The answer says itself that it went wrong. */
  failed?: boolean
  /** Some of what the model wrote has come. */
  hasContent?: boolean
}

/** An API of models: which calls are of it, and how its answers are read. */
export interface ModelApi {
  readonly provider: string
  readonly path: RegExp
  /** Reads a whole answer, or one event of a streamed one. */
  read(answer: ModelAnswer, value: Members): void
  tokens(usage: Members): TokensReported
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
    if (body.usage) answer.usage = untypedMembers(body.usage)
    if (type === 'error' || body.error) answer.failed = true
    if (type.endsWith('.delta') || choice.text || isWritten(untypedMembers(choice.delta))) answer.hasContent = true
  },
  tokens: openAITokens,
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
    // At its start a message tells the first few tokens of its output, and only at its end how many they were.
    const early = isStart && { output_tokens: undefined }
    if (body.usage) answer.usage = { ...answer.usage, ...knownText(untypedMembers(body.usage)), ...early }
    if (type === 'error') answer.failed = true
    if (type === 'content_block_delta') answer.hasContent = true
  },
  tokens: anthropicTokens,
}

/** The APIs that are known. */
export const MODEL_APIS: readonly ModelApi[] = [openAI, anthropic]

/** Whether a chat's delta has more than its author. */
function isWritten({ role: _, ...written }: Members): boolean {
  return Object.values(written).some((part) => part && untypedMembers(part).length !== 0)
}

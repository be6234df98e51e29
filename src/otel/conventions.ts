/**
 * The conventions of all `gen_ai.*` names here: those of a commit, with known changes that `release` made to agent spans and metrics.
 * Every name may still change. Decision 36 says what differs and how to update.
 */
export const CONVENTIONS = {
  repository: 'https://github.com/open-telemetry/semantic-conventions-genai',
  release: 'v0.1.0',
  commit: '06ec68e722c45a7218e23ea1bc1339fe4e21ecae',
  date: '2026-10-07',
  status: 'Development',
  /** The schema of the commit: that of the release is not known. */
  schemaUrl: 'https://opentelemetry.io/schemas/gen-ai-dev/1.42.0-dev',
} as const

/** `gen_ai.operation.name` of a run, and the first word of its span's name. */
export const INVOKE_AGENT = 'invoke_agent'

/** Attributes of the conventions. `session.id` and `error.type` are from the general conventions, v1.44.0. */
export const ATTRIBUTE = {
  operationName: 'gen_ai.operation.name',
  conversationId: 'gen_ai.conversation.id',
  sessionId: 'session.id',
  /** Only of client spans: the id of an agent that a service hosts. */
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentVersion: 'gen_ai.agent.version',
  providerName: 'gen_ai.provider.name',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  inputTokens: 'gen_ai.usage.input_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_write.input_tokens',
  audioInputTokens: 'gen_ai.usage.audio.input_tokens',
  imageInputTokens: 'gen_ai.usage.image.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  audioOutputTokens: 'gen_ai.usage.audio.output_tokens',
  imageOutputTokens: 'gen_ai.usage.image.output_tokens',
  tokenModality: 'gen_ai.token.modality',
  errorType: 'error.type',
} as const

/** Attributes that the conventions lack. Durations are in seconds, as in the conventions. */
export const RUN_ATTRIBUTE = {
  id: 'agent.run.id',
  status: 'agent.run.status',
  parentId: 'agent.run.parent_id',
  resumedFromId: 'agent.run.resumed_from_id',
  attempt: 'agent.run.attempt',
  reportedBy: 'agent.run.reported_by',
  environment: 'agent.run.environment',
  countsScope: 'agent.run.counts_scope',
  totalTokens: 'agent.run.total_tokens',
  modelCalls: 'agent.run.model_calls',
  toolCalls: 'agent.run.tool_calls',
  toolErrors: 'agent.run.tool_errors',
  steps: 'agent.run.steps',
  retries: 'agent.run.retries',
  messages: 'agent.run.messages',
  timeToFirstToken: 'agent.run.time_to_first_token',
  activeDuration: 'agent.run.active_duration',
  modelDuration: 'agent.run.model_duration',
  toolDuration: 'agent.run.tool_duration',
  costAmount: 'agent.run.cost.amount',
  costCurrency: 'agent.run.cost.currency',
  costSource: 'agent.run.cost.source',
} as const

/** `error.type` of a failed run without an error type. */
export const OTHER_ERROR = '_OTHER'

/** `gen_ai.token.modality` of tokens without a reported modality. */
export const UNKNOWN_MODALITY = 'unknown'

/** The parts of a count by their `gen_ai.token.modality`. */
export const MODALITIES = {
  inputTokens: { audio: 'audioInputTokens', image: 'imageInputTokens' },
  outputTokens: { audio: 'audioOutputTokens', image: 'imageOutputTokens' },
} as const

/** Histograms of one run, with the buckets of the conventions. */
export const HISTOGRAM = {
  duration: {
    name: 'gen_ai.invoke_agent.duration',
    unit: 's',
    description: 'The end-to-end duration of a single agent invocation.',
    buckets: [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6],
  },
  modelCalls: {
    name: 'gen_ai.invoke_agent.inference_calls',
    unit: '{inference_call}',
    description: 'The number of inference (model) calls of a single agent invocation.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
  },
  toolCalls: {
    name: 'gen_ai.invoke_agent.tool_calls',
    unit: '{tool_call}',
    description: 'The number of tool calls of a single agent invocation.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128],
  },
} as const

/** Token counters by the count that each sums. */
export const TOKEN_COUNTER = {
  inputTokens: {
    name: 'gen_ai.client.inference.usage.input_tokens',
    description: 'The number of input (prompt) tokens used, including cached tokens.',
  },
  cacheReadTokens: {
    name: 'gen_ai.client.inference.usage.cache_read.input_tokens',
    description: 'The number of input tokens served from a cache.',
  },
  cacheWriteTokens: {
    name: 'gen_ai.client.inference.usage.cache_write.input_tokens',
    description: 'The number of input tokens written to a cache.',
  },
  outputTokens: {
    name: 'gen_ai.client.inference.usage.output_tokens',
    description: 'The number of output (completion) tokens used, including reasoning tokens.',
  },
  reasoningTokens: {
    name: 'gen_ai.client.inference.usage.reasoning.output_tokens',
    description: 'The number of output tokens used for reasoning.',
  },
} as const

/** Values of `gen_ai.provider.name`, with other names of each provider. */
const PROVIDER_NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    anthropic: [],
    'aws.bedrock': ['bedrock', 'amazon-bedrock', 'aws-bedrock', 'aws_bedrock'],
    'azure.ai.inference': [],
    'azure.ai.openai': ['azure', 'azure-openai', 'azure_openai'],
    cohere: [],
    deepseek: [],
    'gcp.gemini': ['gemini', 'google', 'google.generative-ai'],
    'gcp.gen_ai': [],
    'gcp.vertex_ai': ['vertex', 'vertexai', 'vertex_ai', 'vertex-ai', 'google-vertex', 'google.vertex'],
    groq: [],
    'ibm.watsonx.ai': ['watsonx'],
    mistral_ai: ['mistral', 'mistralai'],
    moonshot_ai: ['moonshot', 'moonshotai'],
    openai: [],
    perplexity: [],
    x_ai: ['xai'],
  }).flatMap(([known, others]) => [known, ...others].map((name): [string, string] => [name, known])),
)

/**
 * A provider's name in the conventions, without regard to case and SDK suffixes such as `.chat`. An unknown provider keeps its name.
 * `unknown` if none was reported, because the conventions require the attribute.
 */
export function providerName(reported = 'unknown'): string {
  let name = reported.toLowerCase()
  while (name !== '') {
    const known = PROVIDER_NAMES.get(name)
    if (known !== undefined) return known
    name = name.slice(0, Math.max(0, name.lastIndexOf('.')))
  }
  return reported
}

/** The tokens of one model call, each counted once. */
export interface Call {
  readonly plain: number
  readonly cacheRead: number
  readonly cacheWrite: number
  readonly text: number
  readonly reasoning: number
}

/** What a member can count. `plain` is input without the cache, `text` output without reasoning. */
export type Quantity = 'input' | 'plain' | 'cacheRead' | 'cacheWrite' | 'output' | 'text' | 'reasoning' | 'total'

export function quantityOf(call: Call, quantity: Quantity): number {
  const { plain, cacheRead, cacheWrite, text, reasoning } = call
  const input = plain + cacheRead + cacheWrite
  const output = text + reasoning
  return { input, plain, cacheRead, cacheWrite, output, text, reasoning, total: input + output }[quantity]
}

/** One interface of a provider, as its reference defines it. Places are names in snake case, `/` goes into an object. */
export interface Speaker {
  readonly name: string
  /** Each quantity with the places that state it: the provider's own first, then those that gateways add. `+` divides a count. */
  readonly says: readonly (readonly [Quantity, ...string[]])[]
  /** The call parts that it cannot state. */
  readonly cannotSay?: readonly (keyof Call)[]
  /** Output and reasoning can only be told apart by the total. */
  readonly needsTotal?: true
  /** It leaves reasoning out of all but the total. */
  readonly dropsReasoning?: true
  /** Parts without a price. */
  readonly parts?: readonly (readonly [place: string, quantity: Quantity])[]
  /** Lists that repeat the counts of a call. */
  readonly lists?: (call: Call) => object
  /** The prefix of all its names, which SDKs do not change to camel case. */
  readonly prefix?: string
  /** The object that all its members are in. */
  readonly inside?: string
  /** Its names in `counts` are those of Sallyport. */
  readonly isOwn?: true
}

const CHAT_INPUT = [
  ['input', 'prompt_tokens'],
  [
    'cacheRead',
    'prompt_tokens_details/cached_tokens',
    'cached_tokens',
    'prompt_cache_hit_tokens',
    'cache_read_input_tokens',
  ],
  [
    'cacheWrite',
    'prompt_tokens_details/cache_write_tokens',
    'cache_creation_input_tokens',
    'prompt_tokens_details/cache_creation_tokens',
  ],
] as const
const CHAT_REST = [
  ['reasoning', 'completion_tokens_details/reasoning_tokens', 'reasoning_tokens'],
  ['total', 'total_tokens'],
] as const
const CHAT_PARTS = [
  ['prompt_tokens_details/text_tokens', 'input'],
  ['completion_tokens_details/accepted_prediction_tokens', 'text'],
  ['completion_tokens_details/rejected_prediction_tokens', 'text'],
] as const
export const LIVES = 'cache_creation/ephemeral_5m_input_tokens+cache_creation/ephemeral_1h_input_tokens'
const AI_SDK = [
  ['input', 'input_tokens'],
  ['output', 'output_tokens'],
  ['total', 'total_tokens'],
] as const

/** Gemini's details: a list with a count of each kind. */
function modalities(count: number, other: string): readonly object[] {
  const others = Math.floor(count / 3)
  return [
    { modality: 'TEXT', tokenCount: count - others },
    { modality: other, tokenCount: others },
  ]
}

export const SPEAKERS: readonly Speaker[] = [
  {
    name: 'OpenAI chat',
    says: [...CHAT_INPUT, ['output', 'completion_tokens'], ...CHAT_REST],
    parts: CHAT_PARTS,
  },
  {
    name: 'xAI',
    says: [...CHAT_INPUT, ['text', 'completion_tokens'], ...CHAT_REST],
    needsTotal: true,
    parts: [['prompt_tokens_details/text_tokens', 'input']],
  },
  {
    name: 'a gateway without thoughts',
    says: [
      ['input', 'prompt_tokens'],
      ['text', 'completion_tokens'],
      ['total', 'total_tokens'],
    ],
    cannotSay: ['cacheRead', 'cacheWrite'],
    needsTotal: true,
    dropsReasoning: true,
  },
  {
    name: 'DeepSeek and Kimi',
    says: [
      ['input', 'prompt_tokens'],
      ['cacheRead', 'prompt_cache_hit_tokens', 'cached_tokens', 'prompt_tokens_details/cached_tokens'],
      ['output', 'completion_tokens'],
      ...CHAT_REST,
    ],
    cannotSay: ['cacheWrite'],
    parts: [['prompt_cache_miss_tokens', 'plain']],
  },
  {
    name: 'Groq',
    says: [
      ['input', 'prompt_tokens'],
      ['cacheRead', 'prompt_tokens_details/cached_tokens', 'cached_tokens'],
      ['output', 'completion_tokens'],
      ...CHAT_REST,
    ],
    cannotSay: ['cacheWrite'],
    inside: 'x_groq/usage',
  },
  {
    name: 'OpenAI responses',
    says: [
      ['input', 'input_tokens'],
      ['cacheRead', 'input_tokens_details/cached_tokens', 'cached_input_tokens'],
      ['cacheWrite', 'input_tokens_details/cache_write_tokens', 'cache_write_tokens'],
      ['output', 'output_tokens'],
      ['reasoning', 'output_tokens_details/reasoning_tokens', 'reasoning_output_tokens'],
      ['total', 'total_tokens'],
    ],
    parts: [['input_tokens_details/text_tokens', 'input']],
  },
  {
    name: 'Anthropic',
    says: [
      ['plain', 'input_tokens'],
      ['cacheRead', 'cache_read_input_tokens'],
      ['cacheWrite', 'cache_creation_input_tokens', LIVES],
      ['output', 'output_tokens'],
      ['reasoning', 'output_tokens_details/thinking_tokens', 'thinking_tokens'],
    ],
    lists: (call) => ({
      iterations: [
        {
          type: 'message',
          input_tokens: call.plain,
          cache_read_input_tokens: call.cacheRead,
          cache_creation_input_tokens: call.cacheWrite,
          output_tokens: quantityOf(call, 'output'),
        },
      ],
    }),
  },
  {
    name: 'Bedrock',
    says: [
      ['plain', 'input_tokens', 'input_token_count'],
      ['cacheRead', 'cache_read_input_tokens', 'cache_read_input_token_count'],
      ['cacheWrite', 'cache_write_input_tokens', 'cache_write_input_token_count'],
      ['output', 'output_tokens', 'output_token_count'],
      ['total', 'total_tokens'],
    ],
  },
  {
    name: 'Gemini',
    says: [
      ['input', 'prompt_token_count'],
      ['cacheRead', 'cached_content_token_count'],
      ['text', 'candidates_token_count', 'response_token_count'],
      ['reasoning', 'thoughts_token_count'],
      ['total', 'total_token_count'],
    ],
    cannotSay: ['cacheWrite'],
    lists: (call) => ({
      promptTokensDetails: modalities(quantityOf(call, 'input'), 'VIDEO'),
      cacheTokensDetails: modalities(call.cacheRead, 'AUDIO'),
      candidatesTokensDetails: [{ modality: 'TEXT', tokenCount: call.text }],
    }),
  },
  {
    name: 'Gemini with thoughts within',
    says: [
      ['input', 'prompt_token_count'],
      ['cacheRead', 'cached_content_token_count'],
      ['output', 'candidates_token_count', 'response_token_count'],
      ['reasoning', 'thoughts_token_count'],
      ['total', 'total_token_count'],
    ],
    cannotSay: ['cacheWrite'],
    needsTotal: true,
  },
  {
    name: 'the AI SDK, flat',
    says: [...AI_SDK, ['cacheRead', 'cached_input_tokens'], ['reasoning', 'reasoning_tokens']],
    cannotSay: ['cacheWrite'],
  },
  {
    name: 'the AI SDK',
    says: [
      ...AI_SDK,
      ['cacheRead', 'input_token_details/cache_read_tokens', 'cached_input_tokens'],
      ['cacheWrite', 'input_token_details/cache_write_tokens'],
      ['reasoning', 'output_token_details/reasoning_tokens', 'reasoning_tokens'],
    ],
    parts: [
      ['input_token_details/no_cache_tokens', 'plain'],
      ['output_token_details/text_tokens', 'text'],
      ['raw/prompt_tokens', 'input'],
    ],
  },
  {
    name: 'LangChain',
    says: [
      ...AI_SDK,
      ['cacheRead', 'input_token_details/cache_read'],
      ['cacheWrite', 'input_token_details/cache_creation'],
      ['reasoning', 'output_token_details/reasoning'],
    ],
  },
  {
    name: 'OpenTelemetry',
    says: [
      ['input', 'input_tokens', 'prompt_tokens'],
      ['cacheRead', 'cache_read.input_tokens', 'cache_read_input_tokens', 'details.cache_read_tokens'],
      ['cacheWrite', 'cache_creation.input_tokens', 'cache_creation_input_tokens', 'details.cache_write_tokens'],
      ['output', 'output_tokens', 'completion_tokens'],
      ['reasoning', 'reasoning.output_tokens', 'reasoning_tokens', 'details.reasoning_tokens'],
      ['total', 'total_tokens'],
    ],
    prefix: 'gen_ai.usage.',
  },
  {
    name: 'OpenTelemetry before',
    says: [
      ['input', 'prompt_tokens'],
      ['cacheRead', 'cache_read_input_tokens'],
      ['cacheWrite', 'cache_creation_input_tokens'],
      ['output', 'completion_tokens'],
      ['total', 'total_tokens'],
    ],
    prefix: 'llm.usage.',
  },
  {
    name: 'Sallyport',
    says: [
      ...AI_SDK,
      ['cacheRead', 'cache_read_tokens'],
      ['cacheWrite', 'cache_write_tokens'],
      ['reasoning', 'reasoning_tokens'],
    ],
    isOwn: true,
  },
]

import type { RunCounts } from '../../src/model/run.ts'

/**
 * A usage object that a producer writes, with where it was seen, and its inclusive counts. Counts are those of the source; a source that
 * defines members without an example has made-up counts.
 */
export interface ProducerUsage {
  readonly producer: string
  /** Address of the documentation, source file, recorded answer or bug report. */
  readonly source: string
  readonly usage: object
  readonly counts: RunCounts
  /** Code and member of each expected doubt. Default: none. */
  readonly doubts?: readonly string[]
  /** Explains a count that is not obvious. */
  readonly why?: string
}

export const AI_SDK = 'https://github.com/vercel/ai/blob/main/packages/'
export const PYDANTIC_AI = 'https://github.com/pydantic/pydantic-ai/blob/main/'
export const CASSETTES: string = `${PYDANTIC_AI}tests/models/cassettes/`
export const GENAI_PRICES = 'https://github.com/pydantic/genai-prices/blob/main/tests/dataset/usages.json'
export const ENVOY = 'https://github.com/envoyproxy/ai-gateway/blob/main/'
export const PORTKEY = 'https://github.com/Portkey-AI/gateway/blob/main/src/providers/'
export const LITELLM = 'https://github.com/BerriAI/litellm/'
export const ALIBABA = 'https://www.alibabacloud.com/help/en/model-studio/'
export const DASHSCOPE_SDK =
  'https://github.com/dashscope/dashscope-sdk-java/blob/main/src/main/java/com/alibaba/dashscope/aigc/multimodalconversation/MultiModalConversationUsage.java'

/** `cache_creation` of Anthropic without a write. */
export const NO_CACHE_WRITES = { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 }

import type { RunnableConfig } from '@langchain/core/runnables'
import { type StructuredToolInterface, tool } from '@langchain/core/tools'
import type { BaseCheckpointSaver } from '@langchain/langgraph'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import * as z from 'zod'
import { chat } from './openai-api.ts'
import type { Provider } from './provider.ts'

const schema = z.object({})

/** A model of the provider. */
export const modelOf = ({ url }: Provider, options: { model?: string; maxRetries?: number } = {}): ChatOpenAI =>
  new ChatOpenAI({ model: 'gpt-5', apiKey: 'key', maxRetries: 0, configuration: { baseURL: `${url}/v1` }, ...options })

/** A tool of an agent. */
export const toolOf = (name: string, work: (config: RunnableConfig) => unknown): StructuredToolInterface =>
  tool(async (_, config) => work(config), { name, description: name, schema })

/** A ReAct agent of LangGraph with the provider's model. */
export const agentOf = (
  provider: Provider,
  name: string,
  tools: StructuredToolInterface[] = [],
  checkpointer?: BaseCheckpointSaver,
): ReturnType<typeof createReactAgent> =>
  createReactAgent({ llm: modelOf(provider), tools, name, ...(checkpointer && { checkpointer }) })

export const HELLO: { messages: { role: string; content: string }[] } = {
  messages: [{ role: 'user', content: 'Hello?' }],
}

/** A chat completion that calls tools. */
export function toolCalls(...names: readonly string[]): object {
  const tool_calls = names.map((name, index) => ({
    ...{ id: `call_${index}`, type: 'function', function: { name, arguments: '{}' } },
  }))
  const message = { role: 'assistant', content: null, tool_calls }
  return { ...chat(''), choices: [{ index: 0, finish_reason: 'tool_calls', message }] }
}

/** Answers of OpenAI's API, with the fields that its clients read. */

const CHAT_USAGE = {
  prompt_tokens: 100,
  completion_tokens: 20,
  total_tokens: 120,
  prompt_tokens_details: { cached_tokens: 40 },
  completion_tokens_details: { reasoning_tokens: 5 },
}
const RESPONSE_USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 20,
  output_tokens_details: { reasoning_tokens: 5 },
  total_tokens: 120,
}

/** The counts of a run after one call. */
export const OPENAI_COUNTS = {
  inputTokens: 100,
  cacheReadTokens: 40,
  outputTokens: 20,
  reasoningTokens: 5,
  modelCalls: 1,
} as const

interface ToolCall {
  readonly name: string
  readonly args?: object
}

export function chat(content: string, model = 'gpt-5-2025-08-07'): object {
  return {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1_760_000_000, model, usage: CHAT_USAGE },
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
  }
}

/** The events of a streamed chat completion. The usage comes last, if requested. */
export function chatEvents(content: string, { usage = true }: { usage?: boolean } = {}): (object | string)[] {
  const chunk = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'gpt-5-2025-08-07' }
  const choice = (delta: object, finish_reason: string | null = null) => ({
    ...chunk,
    ...(usage ? { usage: null } : {}),
    choices: [{ index: 0, delta, finish_reason }],
  })
  return [
    choice({ role: 'assistant', content: '' }),
    ...[...content].map((letter) => choice({ content: letter })),
    choice({}, 'stop'),
    ...(usage ? [{ ...chunk, choices: [], usage: CHAT_USAGE }] : []),
    '[DONE]',
  ]
}

/** A response with a text or with tool calls. */
export function response(output: string | readonly ToolCall[], model = 'gpt-5-2025-08-07'): object {
  const items =
    typeof output === 'string'
      ? [
          {
            ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
            content: [{ type: 'output_text', text: output, annotations: [] }],
          },
        ]
      : output.map(({ name, args = {} }, index) => ({
          ...{ type: 'function_call', id: `fc_${index}`, call_id: `call_${index}`, status: 'completed' },
          ...{ name, arguments: JSON.stringify(args) },
        }))
  return {
    ...{ id: 'resp_1', object: 'response', created_at: 1_760_000_000, status: 'completed', model },
    ...{
      error: null,
      incomplete_details: null,
      instructions: null,
      metadata: {},
      parallel_tool_calls: true,
      tools: [],
    },
    ...{ output: items, usage: RESPONSE_USAGE },
  }
}

/** The events of a streamed response. */
export function responseEvents(text: string): object[] {
  const done = response(text)
  const open = { ...done, status: 'in_progress', output: [], usage: null }
  const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
  const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }
  const part = { type: 'output_text', text: '', annotations: [] }
  return [
    { type: 'response.created', response: open },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...at, part },
    ...[...text].map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text },
    { type: 'response.content_part.done', ...at, part: { ...part, text } },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...item, status: 'completed', content: [{ ...part, text }] },
    },
    { type: 'response.completed', response: done },
  ].map((event, sequence_number) => ({ ...event, sequence_number }))
}

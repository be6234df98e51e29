/** Answers of Anthropic's API, with the fields that its client reads. */

const MODEL = 'claude-haiku-4-5-20251001'

/** The counts of a run after one call. Tokens read from and written to the cache are input. */
export const ANTHROPIC_COUNTS = {
  inputTokens: 100,
  cacheReadTokens: 60,
  cacheWriteTokens: 30,
  outputTokens: 20,
  modelCalls: 1,
} as const

const INPUT = { input_tokens: 10, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 }

export function message(text: string): object {
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: MODEL, stop_reason: 'end_turn', stop_sequence: null },
    ...{ content: [{ type: 'text', text }], usage: { ...INPUT, output_tokens: 20 } },
  }
}

/** The events of a streamed message. The first event reports some output tokens, the last one all of them. */
export function messageEvents(text: string): object[] {
  const begun = { ...message(''), content: [], stop_reason: null, usage: { ...INPUT, output_tokens: 1 } }
  return [
    { type: 'message_start', message: begun },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
    ...[...text].map((letter) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text: letter },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { input_tokens: null, cache_read_input_tokens: null, output_tokens: 20 },
    },
    { type: 'message_stop' },
  ]
}

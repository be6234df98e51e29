import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Answer, type Provider, streamed } from './provider.ts'

/**
 * The Claude Agent SDK is not a dependency: its licence is not open, and its program has 380 MB. Its messages were recorded from version
 * 0.3.330, with a local server in place of Anthropic's API. With the package in a folder, the same tests use it, and record its messages again:
 * `SALLYPORT_CLAUDE_AGENT_SDK=/the/folder npx vitest run --config test/vitest.config.ts test/integrations/claude-query.test.ts`
 */
const folder = process.env.SALLYPORT_CLAUDE_AGENT_SDK
const recorded = fileURLToPath(new URL('claude-messages.jsonl', import.meta.url))

export interface ClaudeMessage {
  readonly type: string
  readonly [field: string]: unknown
}

export interface ClaudeQuery extends AsyncGenerator<ClaudeMessage, void> {
  interrupt(): Promise<unknown>
}

/** A query: its name, the answers of the API, and the options of the SDK. */
export interface ClaudeCase {
  readonly name: string
  readonly answers: readonly Answer[]
  readonly options?: object
}

const MODEL = 'claude-haiku-4-5-20251001'
const INPUT = { input_tokens: 10, cache_read_input_tokens: 60, cache_creation_input_tokens: 30 }
let answers = 0

/** The counts of a run after `calls` calls. */
export const claudeTokens = (calls: number): Record<string, number> => ({
  ...{ inputTokens: 100 * calls, cacheReadTokens: 60 * calls, cacheWriteTokens: 30 * calls, outputTokens: 20 * calls },
  reasoningTokens: 0,
})

/** A text, or the name and the input of a tool. */
type Block = string | readonly [name: string, input: object]

/** A streamed message with a text, or with calls of tools. */
export function claudeEvents(...blocks: readonly Block[]): object[] {
  const id = `msg_${++answers}`
  const content = blocks.flatMap((block, index) => {
    const [name, input] = typeof block === 'string' ? [] : block
    const start = name ? { type: 'tool_use', id: `${id}_${index}`, name, input: {} } : { type: 'text', text: '' }
    const deltas = name
      ? [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }]
      : [...String(block)].map((text) => ({ type: 'text_delta', text }))
    return [
      { type: 'content_block_start', index, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]
  })
  const message = { id, type: 'message', role: 'assistant', model: MODEL, content: [], stop_reason: null }
  const stop_reason = blocks.some((block) => typeof block !== 'string') ? 'tool_use' : 'end_turn'
  return [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage: { ...INPUT, output_tokens: 1 } } },
    ...content,
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { ...INPUT, output_tokens: 20 } },
    { type: 'message_stop' },
  ]
}

export const answered = (...blocks: readonly Block[]): Answer => streamed(claudeEvents(...blocks))

export async function claudeQueryOf(provider: Provider, one: ClaudeCase): Promise<ClaudeQuery> {
  provider.answers(...one.answers)
  return folder ? recording(one.name, await live(folder, provider, one)) : replayed(one.name)
}

async function live(from: string, { url }: Provider, { options }: ClaudeCase): Promise<ClaudeQuery> {
  const { query } = await import(pathToFileURL(join(from, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs')).href)
  const home = await mkdtemp(join(tmpdir(), 'sallyport-claude-'))
  await writeFile(join(home, 'weather.txt'), 'sunny')
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, CLAUDE_CONFIG_DIR: home, ANTHROPIC_API_KEY: 'key' },
    ...{ ANTHROPIC_BASE_URL: url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', CLAUDE_CODE_MAX_RETRIES: '1' },
  }
  const settings = { env, cwd: home, model: 'claude-haiku-4-5', settingSources: [], allowedTools: ['Read', 'Agent'] }
  return query({ prompt: 'Hello?', options: { ...settings, ...options } })
}

/** The fields of the messages that are kept, without texts and paths. */
const KEPT = [
  ...['type', 'subtype', 'model', 'parent_tool_use_id', 'tool_use_id', 'task_type', 'subagent_type', 'status', 'error'],
  ...['is_error', 'stop_reason', 'terminal_reason', 'api_error_type', 'errors', 'num_turns', 'total_cost_usd'],
  ...['modelUsage', 'model_usage_since_last_result'],
]

function kept(message: ClaudeMessage): object {
  const {
    message: inner,
    event,
    result,
    tool_use_result,
  } = message as unknown as Record<string, Record<string, unknown>>
  const content = Array.isArray(inner?.content) ? inner.content : []
  const blocks = content.map(({ type, id, tool_use_id, is_error }) => ({ type, id, tool_use_id, is_error }))
  return {
    ...Object.fromEntries(KEPT.filter((field) => field in message).map((field) => [field, message[field]])),
    ...(inner && { message: { id: inner.id, model: inner.model, content: blocks, usage: tierMembers(inner.usage) } }),
    ...(event && { event: { type: event.type } }),
    ...(message.is_error ? { result } : {}),
    ...(tool_use_result?.isAsync ? { tool_use_result: { isAsync: true } } : {}),
  }
}

function tierMembers(usage: unknown): object | undefined {
  const { service_tier, speed, inference_geo }: Record<string, unknown> = Object(usage)
  return usage ? { service_tier, speed, inference_geo } : undefined
}

const lines: string[] = []

function recording(name: string, query: ClaudeQuery): ClaudeQuery {
  const { next } = query
  query.next = async (...args) => {
    const add = (line: object) => lines.push(`${JSON.stringify({ name, ...line })}\n`)
    try {
      const { done, value } = await next.apply(query, args)
      add(done ? { done } : { message: kept(value) })
      return done ? { done, value } : { done: false, value }
    } catch (error) {
      add({ thrown: (error as Error).message })
      throw error
    } finally {
      await writeFile(recorded, lines.join(''))
    }
  }
  return query
}

async function replayed(name: string): Promise<ClaudeQuery> {
  const all = (await readFile(recorded, 'utf8')).trimEnd().split('\n')
  const own = all.map((line) => JSON.parse(line)).filter((line) => line.name === name)
  async function* messages(): AsyncGenerator<ClaudeMessage, void> {
    for (const { message, thrown } of own) {
      if (thrown) throw new Error(thrown)
      if (message) yield message
    }
  }
  return Object.assign(messages(), { interrupt: async () => {} })
}

import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { RecordedRun } from 'sallyport/client'
import { recordingFetch } from 'sallyport/integrations'
import type { Provider } from './provider.ts'

interface Question {
  role: 'user'
  content: string
}
const messages: Question[] = [{ role: 'user', content: 'Hello?' }]

/** Requests of the clients. */
export const CHAT: { model: string; messages: Question[] } = { model: 'gpt-5', messages }
export const RESPONSE = { model: 'gpt-5', input: 'Hello?' }
export const MESSAGE: { model: string; max_tokens: number; messages: Question[] } = {
  ...{ model: 'claude-haiku-4-5', max_tokens: 100, messages },
}

/** Clients of a host without recording. */
export const openai = ({ url }: Provider): OpenAI => new OpenAI({ apiKey: 'key', baseURL: `${url}/v1` })
const anthropic = ({ url }: Provider): Anthropic => new Anthropic({ apiKey: 'key', baseURL: url })

/** Clients that record into a run. */
export const openaiOf = (run: RecordedRun, provider: Provider): OpenAI =>
  openai(provider).withOptions({ fetch: recordingFetch(run) })
export const anthropicOf = (run: RecordedRun, provider: Provider): Anthropic =>
  anthropic(provider).withOptions({ fetch: recordingFetch(run) })

/** Reads a stream to its end and returns the number of events. */
export async function read(stream: AsyncIterable<unknown>): Promise<number> {
  let events = 0
  for await (const _ of stream) events++
  return events
}

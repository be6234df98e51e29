import { createOpenAI, type OpenAIProvider } from '@ai-sdk/openai'
import type { LanguageModelV3 } from '@ai-sdk/provider'
import Anthropic from '@anthropic-ai/sdk'
import { addTraceProcessor, type TracingProcessor } from '@openai/agents'
import { generateText, streamText, type TelemetryIntegration, ToolLoopAgent, wrapLanguageModel } from 'ai6'
import OpenAI from 'openai'
import type { RecordedRun, RunRecorder } from 'sallyport/client'
import {
  type AgentsProcessor,
  type AiSdkIntegration,
  agentsSdk,
  aiSdk,
  type RecordableModel,
  recordingFetch,
} from 'sallyport/integrations'
import { expectTypeOf, test } from 'vitest'

declare const run: RecordedRun
declare const recorder: RunRecorder
declare const gpt5: ReturnType<OpenAIProvider>

test('the clients of OpenAI, of Anthropic and of the AI SDK take a recording fetch', () => {
  const fetch = recordingFetch(run, { provider: 'deepseek', fetch: globalThis.fetch })
  new OpenAI({ fetch }).withOptions({ fetch })
  new Anthropic({ fetch }).withOptions({ fetch })
  createOpenAI({ fetch })
})

test('the AI SDK takes what is spread into a call or an agent', () => {
  generateText({ ...aiSdk(run, gpt5), prompt: 'Hello?' })
  streamText({ ...aiSdk(run, gpt5), prompt: 'Hello?', onError() {}, onStepFinish() {} })
  new ToolLoopAgent({ ...aiSdk(run, gpt5) })
  expectTypeOf<AiSdkIntegration>().toExtend<TelemetryIntegration>()
})

test('a model is of its own type after it is wrapped, and any model can be', () => {
  expectTypeOf(aiSdk(run, gpt5).model).toEqualTypeOf<typeof gpt5>()
  expectTypeOf<LanguageModelV3>().toExtend<RecordableModel>()
  wrapLanguageModel({ model: aiSdk(run, gpt5).model, middleware: [] })
  // @ts-expect-error A name is no model that could be wrapped.
  aiSdk(run, 'openai/gpt-5')
})

test('the Agents SDK takes the processor', () => {
  addTraceProcessor(agentsSdk(recorder))
  addTraceProcessor(agentsSdk(recorder, ({ groupId, name }) => ({ sessionId: groupId ?? 'none', tags: [name] })))
  addTraceProcessor(agentsSdk(recorder, ({ groupId }) => (groupId ? { sessionId: groupId } : undefined)))
  expectTypeOf<AgentsProcessor>().toExtend<TracingProcessor>()
  // @ts-expect-error A run is in a session.
  agentsSdk(recorder, () => ({ userId: 'ada' }))
})

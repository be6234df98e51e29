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

test('The OpenAI, Anthropic and AI SDK clients take a recording fetch', () => {
  const fetch = recordingFetch(run, { provider: 'deepseek', fetch: globalThis.fetch })
  new OpenAI({ fetch }).withOptions({ fetch })
  new Anthropic({ fetch }).withOptions({ fetch })
  createOpenAI({ fetch })
})

test('The AI SDK takes the settings of aiSdk() in a call and an agent', () => {
  generateText({ ...aiSdk(run, gpt5), prompt: 'Hello?' })
  streamText({ ...aiSdk(run, gpt5), prompt: 'Hello?', onError() {}, onStepFinish() {} })
  new ToolLoopAgent({ ...aiSdk(run, gpt5) })
  expectTypeOf<AiSdkIntegration>().toExtend<TelemetryIntegration>()
})

test('aiSdk() keeps the type of its model, and takes any language model', () => {
  expectTypeOf(aiSdk(run, gpt5).model).toEqualTypeOf<typeof gpt5>()
  expectTypeOf<LanguageModelV3>().toExtend<RecordableModel>()
  wrapLanguageModel({ model: aiSdk(run, gpt5).model, middleware: [] })
  // @ts-expect-error: aiSdk() takes no model name
  aiSdk(run, 'openai/gpt-5')
})

test('The Agents SDK takes the processor', () => {
  addTraceProcessor(agentsSdk(recorder))
  addTraceProcessor(agentsSdk(recorder, ({ groupId, name }) => ({ sessionId: groupId ?? 'none', tags: [name] })))
  addTraceProcessor(agentsSdk(recorder, ({ groupId }) => (groupId ? { sessionId: groupId } : undefined)))
  expectTypeOf<AgentsProcessor>().toExtend<TracingProcessor>()
  // @ts-expect-error: a run needs a session
  agentsSdk(recorder, () => ({ userId: 'ada' }))
})

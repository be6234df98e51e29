import type OpenAI from 'openai'
import type { EndedRun, RunExporter, RunListOptions, RunPost } from 'sallyport'
import { expectTypeOf, test } from 'vitest'

test('A run post takes the usage types of OpenAI', () => {
  expectTypeOf<OpenAI.CompletionUsage>().toExtend<NonNullable<RunPost['usage']>>()
  expectTypeOf<OpenAI.Responses.ResponseUsage>().toExtend<NonNullable<RunPost['usage']>>()
})

test('Optional filters may be undefined', () => {
  expectTypeOf<{ userId: string | undefined }>().toExtend<RunListOptions>()
})

test('An exporter may be asynchronous', () => {
  expectTypeOf<(run: EndedRun) => Promise<void>>().toExtend<RunExporter['export']>()
})

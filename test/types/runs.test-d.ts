import type OpenAI from 'openai'
import type {
  BudgetQuestion,
  BudgetState,
  EndedRun,
  Run,
  RunEvents,
  RunExporter,
  RunListOptions,
  RunPost,
} from 'sallyport'
import { expectTypeOf, test } from 'vitest'

test('a run event is told of its run, and of its budget where there is one', () => {
  const events: RunEvents = {
    'run.failed': ({ run, tenant }) => {
      expectTypeOf(run).toEqualTypeOf<Run>()
      expectTypeOf(tenant).toBeString()
      return { recipient: 'ops@example.com', eventData: { run, more: 1 } }
    },
    'budget.exceeded': async ({ budget }) => {
      expectTypeOf(budget).toEqualTypeOf<BudgetState>()
      return budget.level === 'hard' ? { recipient: 'ops@example.com' } : undefined
    },
  }
  expectTypeOf(events).toHaveProperty('run.expired')
  // @ts-expect-error There is no such end.
  const misspelt: RunEvents = { 'run.faild': () => undefined }
  expectTypeOf(misspelt).toEqualTypeOf<RunEvents>()
})

test('a provider’s own usage object is taken as it is typed', () => {
  expectTypeOf<OpenAI.CompletionUsage>().toExtend<NonNullable<RunPost['usage']>>()
  expectTypeOf<OpenAI.Responses.ResponseUsage>().toExtend<NonNullable<RunPost['usage']>>()
})

test('what a host may not know may be undefined', () => {
  expectTypeOf<{ userId: string | undefined }>().toExtend<RunListOptions>()
  expectTypeOf<{ sessionId: string | undefined; userId: string }>().toExtend<BudgetQuestion>()
})

test('an exporter may be asynchronous', () => {
  expectTypeOf<(run: EndedRun) => Promise<void>>().toExtend<RunExporter['export']>()
})

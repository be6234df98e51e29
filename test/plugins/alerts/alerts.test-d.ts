import type { BudgetState, Run } from 'sallyport'
import type { BudgetQuestion, RunEvents } from 'sallyport/plugins'
import { expectTypeOf, test } from 'vitest'

test('A run event handler gets the run, or the state of the budget', () => {
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
  // @ts-expect-error: there is no such event
  const misspelt: RunEvents = { 'run.faild': () => undefined }
  expectTypeOf(misspelt).toEqualTypeOf<RunEvents>()
})

test('The parts of a budget question may be undefined', () => {
  expectTypeOf<{ sessionId: string | undefined; userId: string }>().toExtend<BudgetQuestion>()
})

import { expectTypeOf, test } from 'vitest'
import type { Mountable } from '../../src/adapters/node.ts'
import type { AuthVerifier, RunStore, SallyportStore, StatisticsStore, TokenStore } from '../../src/index.ts'
import { createSallyport, defineEvents, type RunsOnlySallyport, type Sallyport } from '../../src/index.ts'

declare const auth: AuthVerifier
declare const runs: RunStore & TokenStore & StatisticsStore
declare const store: SallyportStore
const events = defineEvents({ one: { channels: { email: {} } } })

test('A Sallyport without events and channels has no dispatch', () => {
  const sallyport = createSallyport({ auth, store: runs })
  expectTypeOf(sallyport).toEqualTypeOf<RunsOnlySallyport>()
  expectTypeOf(sallyport).toExtend<Mountable>()
  // @ts-expect-error: it only records runs
  sallyport.dispatch
  // @ts-expect-error: it only records runs
  sallyport.dispatches
})

test('A Sallyport with events and channels has dispatches', () => {
  const sallyport = createSallyport({ auth, store, events, channels: {} })
  expectTypeOf(sallyport.dispatches).toEqualTypeOf<Sallyport['dispatches']>()
  // @ts-expect-error: events need channels
  createSallyport({ auth, store, events })
  // @ts-expect-error: channels need events
  createSallyport({ auth, store, channels: {} })
  // @ts-expect-error: dispatching needs a store of dispatches
  createSallyport({ auth, store: runs, events, channels: {} })
})

test('The return type of createSallyport has dispatch', () => {
  expectTypeOf<ReturnType<typeof createSallyport>>().toHaveProperty('dispatch')
})

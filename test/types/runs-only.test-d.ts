import { expectTypeOf, test } from 'vitest'
import type { Mountable } from '../../src/adapters/node.ts'
import type { AuthVerifier, DispatchStore, RunStore } from '../../src/index.ts'
import { createSallyport, defineEvents, type RunsOnlySallyport, type Sallyport } from '../../src/index.ts'

declare const auth: AuthVerifier
declare const runs: RunStore
declare const store: DispatchStore & RunStore
const events = defineEvents({ one: { channels: { email: {} } } })

test('without events and channels there is nothing to dispatch', () => {
  const sallyport = createSallyport({ auth, store: runs })
  expectTypeOf(sallyport).toEqualTypeOf<RunsOnlySallyport>()
  expectTypeOf(sallyport).toExtend<Mountable>()
  // @ts-expect-error: it records runs alone
  sallyport.dispatch
  // @ts-expect-error: it records runs alone
  sallyport.dispatches
})

test('with events and channels there is', () => {
  const sallyport = createSallyport({ auth, store, events, channels: {} })
  expectTypeOf(sallyport.dispatches).toEqualTypeOf<Sallyport['dispatches']>()
  // @ts-expect-error: events need channels
  createSallyport({ auth, store, events })
  // @ts-expect-error: channels need events
  createSallyport({ auth, store, channels: {} })
  // @ts-expect-error: dispatching needs a store of dispatches
  createSallyport({ auth, store: runs, events, channels: {} })
})

test('the type of createSallyport gives a host that dispatches', () => {
  expectTypeOf<ReturnType<typeof createSallyport>>().toHaveProperty('dispatch')
})

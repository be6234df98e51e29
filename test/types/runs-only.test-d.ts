import { expectTypeOf, test } from 'vitest'
import type { Mountable } from '../../src/adapters/node.ts'
import type { AuthVerifier, DispatchStore, RunStore, SallyportStore } from '../../src/index.ts'
import { createSallyport, defineEvents, type RunsOnlySallyport, type Sallyport } from '../../src/index.ts'

declare const auth: AuthVerifier
declare const methods: DispatchStore & RunStore
declare const store: SallyportStore
const events = defineEvents({ one: { channels: { email: {} } } })

test('A Sallyport without events and channels has no dispatch', () => {
  const sallyport = createSallyport({ auth, store })
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
  // @ts-expect-error: an object with methods is no store of the engine
  createSallyport({ auth, store: methods, events, channels: {} })
})

test('The return type of createSallyport has dispatch', () => {
  expectTypeOf<ReturnType<typeof createSallyport>>().toHaveProperty('dispatch')
})

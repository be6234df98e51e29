/**
 * A worker in a process of its own, whose store is in the process that started it and whose channel takes the process with it:
 * `exiting-worker.ts <retry schedule as JSON>` delivers what is due, and leaves with 0 if it lives.
 */
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { createSallyport } from '../../../src/sallyport/create-sallyport.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'

const answers = new Map<number, (result: unknown) => void>()
let asked = 0

/** Lets the other process do something, and gives what came of it. */
function ask<T>(call: string, ...args: readonly unknown[]): Promise<T> {
  return new Promise((resolve) => {
    const id = ++asked
    answers.set(id, (result) => resolve(result as T))
    process.send?.({ id, call, args })
  })
}

process.on('message', ({ id, result }: { readonly id: number; readonly result: unknown }) => answers.get(id)?.(result))

const elsewhere: Pick<DispatchStore, 'claim' | 'renew' | 'settle'> = {
  claim: (request) => ask('claim', request),
  renew: (lease, leaseMs) => ask('renew', lease, leaseMs),
  settle: (settlement) => ask('settle', settlement),
}

const { worker } = createSallyport({
  logger: { log() {} },
  auth: { verify: async () => ({ refused: 'invalid_token' }) },
  events: defineEvents({ e: { channels: { a: {} } } }),
  store: { ...memoryStore(), ...elsewhere },
  channels: {
    a: {
      address: ({ id }) => id,
      retrySchedule: JSON.parse(process.argv[2] ?? '[]'),
      async send() {
        await ask('sending')
        process.exit(1)
      },
    },
  },
})
await worker.runDue()
process.exit(0)

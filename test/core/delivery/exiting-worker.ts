/**
 * A worker in its own process, with its store in the parent process and a channel that exits the process:
 * `exiting-worker.ts <retry schedule as JSON>` runs due deliveries and exits with 0 if no send was made.
 */

import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'

const answers = new Map<number, (result: unknown) => void>()
let asked = 0

/** Calls the parent process; returns its result. */
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

import { deepEqual, equal } from 'node:assert/strict'
import type { Kept } from '../hosts/contracts.ts'
import { own } from '../target.ts'
import type { Check, CheckGroup } from './check.ts'

const MIDNIGHT_RULE = { verdict: 'defer', until: Date.UTC(2026, 6, 2, 5, 30) }

/** The parts by themselves: handlers, secrets, policies. */
export const withoutHttp: CheckGroup = {
  name: 'without HTTP',
  checks: [
    {
      name: 'handlers, secrets and policies do what they do on any other runtime',
      async run(target) {
        const expected = { dispatch: 202, run: 201, refused: 401, misuse: true, quiet: MIDNIGHT_RULE }
        deepEqual(await own(target, 'without-http'), expected)
      },
    },
  ],
}

/** A worker that was started: for what runs on between requests. */
export const startedWorker: CheckGroup = {
  name: 'worker',
  checks: [
    {
      name: 'that was started delivers by itself, and stops',
      run: async (target) => deepEqual(await own(target, 'worker'), { status: 202 }),
    },
  ],
}

/** The memory store, held to the contracts of `sallyport/testing` within the runtime. */
export const memoryContracts: CheckGroup = contracts('memory store', 'contracts')

/** The SQL store, likewise, over the SQLite that the runtime brings. */
export const sqliteContracts: CheckGroup = contracts('SQLite', 'sqlite-contracts')

function contracts(name: string, task: string): CheckGroup {
  const check: Check = {
    name: 'keeps the contracts of both ports',
    async run(target) {
      const { kept, broken } = await own<Kept>(target, task)
      deepEqual(broken, [])
      equal(kept > 100, true, `${kept} cases are too few`)
    },
  }
  return { name, checks: [check] }
}

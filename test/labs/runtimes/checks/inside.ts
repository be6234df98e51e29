import { deepEqual, equal } from 'node:assert/strict'
import type { ContractResults } from '../hosts/contracts.ts'
import { own } from '../target.ts'
import type { Check, CheckGroup } from './check.ts'

const MIDNIGHT_RULE = { verdict: 'defer', until: Date.UTC(2026, 6, 2, 5, 30), for: 'quiet_hours' }

/** The parts without HTTP: handlers, secrets, policies. */
export const withoutHttp: CheckGroup = {
  name: 'without HTTP',
  checks: [
    {
      name: 'handlers, secrets and policies give the same results as on other runtimes',
      async run(target) {
        const expected = { dispatch: 202, run: 201, refused: 401, misuse: true, quiet: MIDNIGHT_RULE }
        deepEqual(await own(target, 'without-http'), expected)
      },
    },
  ],
}

/** A started worker, for runtimes that run between requests. */
export const startedWorker: CheckGroup = {
  name: 'worker',
  checks: [
    {
      name: 'a started worker delivers by itself, and stops',
      run: async (target) => deepEqual(await own(target, 'worker'), { status: 202 }),
    },
  ],
}

/** The contracts of `sallyport/testing` on the memory store, within the runtime. */
export const memoryContracts: CheckGroup = contracts('memory store', 'contracts')

/** The same contracts on the SQL store, over the runtime's own SQLite. */
export const sqliteContracts: CheckGroup = contracts('SQLite', 'sqlite-contracts')

function contracts(name: string, task: string): CheckGroup {
  const check: Check = {
    name: 'the store passes the contracts of its ports',
    async run(target) {
      const { kept, broken } = await own<ContractResults>(target, task)
      deepEqual(broken, [])
      equal(kept > 100, true, `${kept} cases are too few`)
    },
  }
  return { name, checks: [check] }
}

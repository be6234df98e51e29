import { describe, test } from 'vitest'
import type { StoreTrial } from '../../../src/contract-tests/contract.ts'
import type { SallyportStore } from '../../../src/ports/sallyport-store.ts'
import { storeOf } from '../../../src/storage/engine/engine-store.ts'
import { memoryRecords } from '../../../src/storage/memory/memory-records.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { dispatchRules, runRules } from './rule-cases/rules.ts'

/** Two engines over the same records, as in two processes. */
function create(): StoreTrial<SallyportStore> {
  const { now, advance } = fakeClock()
  const records = memoryRecords({ now })
  return { store: storeOf(records), other: storeOf(records), now, advance }
}

describe('the rules of deliveries', () => dispatchRules({ test, create }))
describe('the rules of merges', () => runRules({ test, create }))

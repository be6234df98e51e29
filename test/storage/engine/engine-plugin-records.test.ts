import { describe, test } from 'vitest'
import { recordStoreContract } from '../../../src/contract-tests/record-store-contract.ts'
import { revocationStoreContract } from '../../../src/contract-tests/revocation-store-contract.ts'
import { RECORD_TRIALS } from '../../support/record-trials.ts'

for (const [name, create] of Object.entries(RECORD_TRIALS))
  describe(`records of plugins, and revocations, over ${name}`, () => {
    const options = { test, create, capabilities: { durable: true } }
    describe('revocations', () => revocationStoreContract(options))
    describe('records', () => recordStoreContract(options))
  })

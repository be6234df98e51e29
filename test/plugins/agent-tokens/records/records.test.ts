import { expect, it } from 'vitest'
import { fakeClock } from '../../../../src/contract-tests/fake-clock.ts'
import { tokenUseRecords } from '../../../../src/plugins/agent-tokens/token-use-records.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { testRecords } from '../../../support/record-trials.ts'
import { findRecords } from '../../../support/records.ts'
import { tokenUse } from './harness.ts'
import { tokenUseCases } from './uses.ts'

testRecords('uses of tokens', tokenUseCases)

it('Records of all versions have one form, so that processes of two versions share them', async () => {
  const now = Date.UTC(2027, 0, 15)
  const store = memoryStore({ clock: fakeClock(now) })
  await tokenUseRecords(store).record([tokenUse({ useId: 'u', agoMs: 1_000, id: 'run_1', times: 2 })])
  const at = `000${now - 1_000}`
  expect(await findRecords(store, { kind: 'token_uses', tenant: 't' }, 'u')).toMatchObject([
    {
      ...{ sort: [at, `5:token${at}`, `1:s${at}`, `8:accepted${at}`], expiresAt: now - 1_000 },
      body: { operation: 'session_run', id: 'run_1', times: 2 },
    },
  ])
})

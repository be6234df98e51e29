import { expect, test } from 'vitest'
import { suppressionCheck } from '../../../src/core/suppression/suppression-check.ts'
import type { Suppression } from '../../../src/model/suppression.ts'

const ASKED = { tenant: 't', channel: 'email', category: 'offers', critical: false }

/** Counts reads of a store in which only `gone@example.com` is suppressed. */
function checking() {
  const gone: Suppression = {
    ...{ suppressionId: '1', tenant: 't', channel: 'email', addressKey: 'k.gone@example.com' },
    ...{ reason: 'complained', source: 'host', createdAt: 0 },
  }
  const reads: (readonly string[])[] = []
  const store = {
    async findSuppressions(keys: readonly string[]) {
      reads.push(keys)
      return [gone].filter(({ addressKey }) => keys.includes(addressKey))
    },
    addSuppressions: async () => [],
  }
  const keysOf = (_: string, address: string) => `k.${address}`
  const check = suppressionCheck(store, { current: keysOf, all: (...of) => [keysOf(...of)] })
  return { reads, isSuppressed: (address: string) => check.isSuppressed({ ...ASKED, address }) }
}

test('Checks that begin together share a read, and a suppressed address suppresses no other', async () => {
  const { reads, isSuppressed } = checking()
  const all = ['jane@example.com', 'gone@example.com', 'ann@example.com']
  expect(await Promise.all(all.map(isSuppressed))).toEqual([false, true, false])
  expect(reads).toEqual([all.map((address) => `k.${address}`)])
})

import { expect, test } from 'vitest'
import type { Suppression } from '../../../src/model/suppression.ts'
import { consentGuard } from '../../../src/plugins/consent/consent-guard.ts'
import type { GuardedMessage } from '../../../src/ports/message-guard.ts'
import type { PluginRecord, RecordSearch } from '../../../src/ports/record-store.ts'

const NEWS = { tenant: 't', eventType: 'news', channel: 'email', category: 'offers', critical: false }

/** Counts reads of a store in which `gone@example.com` is suppressed, and `u1` wants no offers. */
function checking(isDown = false) {
  const gone: Suppression = {
    ...{ suppressionId: '1', tenant: 't', channel: 'email', addressKey: 'k.gone@example.com' },
    ...{ reason: 'complained', source: 'host', createdAt: 0 },
  }
  const reads: (readonly string[])[] = []
  const read = (keys: readonly string[]): void => {
    reads.push(keys)
    if (isDown) throw new Error('down')
  }
  const store = {
    async findRecords({ texts }: RecordSearch): Promise<readonly PluginRecord[]> {
      const keys = texts.map(({ text }) => text)
      read(keys)
      const record = { kind: 'preferences', tenant: '', key: 'k.u1', sort: [], version: 1 }
      const own = { ...record, body: { tenant: 't', preferences: { categories: { offers: false } } } }
      return keys.includes('k.u1') ? [own] : []
    },
  }
  const suppressions = {
    async find(keys: readonly string[]) {
      read(keys)
      return [gone].filter(({ addressKey }) => keys.includes(addressKey))
    },
    add: async () => [],
  }
  const keysOf = (_: string, address: string) => `k.${address}`
  const guard = consentGuard({ store, suppressions, keys: { current: keysOf, all: (...of) => [keysOf(...of)] } })
  const check = (of: Partial<GuardedMessage> & { readonly address: string }) => guard.check({ ...NEWS, ...of })
  return { reads, check }
}

test('Checks that begin together share a read, and a suppressed address suppresses no other', async () => {
  const { reads, check } = checking()
  const all = ['jane@example.com', 'gone@example.com', 'ann@example.com']
  const found = await Promise.all(all.map((address) => check({ address })))
  expect(found).toEqual([undefined, 'suppressed', undefined])
  expect(reads).toEqual([all.map((address) => `k.${address}`)])
})

test('The preferences of one recipient are read once for all its channels', async () => {
  const { reads, check } = checking()
  const channels = ['email', 'sms'].map((channel) => check({ address: channel, channel, recipient: 'u1' }))
  expect(await Promise.all(channels)).toEqual(['opted_out', 'opted_out'])
  expect(reads).toEqual([['k.email', 'k.sms'], ['k.u1']])
})

test('A suppression is told before an opt-out; copies and critical events have no preferences', async () => {
  const { check } = checking()
  expect(await check({ address: 'gone@example.com', recipient: 'u1' })).toBe('suppressed')
  expect(await check({ address: 'a', recipient: 'u1' })).toBe('opted_out')
  expect(await check({ address: 'a', recipient: 'u1', category: 'orders' })).toBeUndefined()
  expect(await check({ address: 'a', recipient: 'u1', critical: true })).toBeUndefined()
  expect(await check({ address: 'a' })).toBeUndefined()
})

test('More than 500 addresses are read in several reads', async () => {
  const { reads, check } = checking()
  await Promise.all(Array.from({ length: 1_001 }, (_, at) => check({ address: `a${at}` })))
  expect(reads.map(({ length }) => length)).toEqual([500, 500, 1])
})

test('A read that fails rejects every check that shares it, and the next one reads again', async () => {
  const { reads, check } = checking(true)
  const both = await Promise.allSettled([check({ address: 'a' }), check({ address: 'b' })])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(check({ address: 'a' })).rejects.toMatchObject({ code: 'store_unavailable', cause: new Error('down') })
  expect(reads).toHaveLength(2)
})

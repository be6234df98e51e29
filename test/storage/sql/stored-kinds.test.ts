import { describe, expect, it } from 'vitest'
import { putRecords } from '../../support/records.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'

for (const database of await databaseKinds())
  describe.skipIf(database.absent !== undefined)(`kinds of plugin records in ${database.name}`, () => {
    const own = storeEach(database.open)

    const keep = (kind: string, tenant: string, key: string) =>
      putRecords(own.other, { kind, tenant, key, sort: [], body: {} })

    it('Each kind is found once, with its plugin', async () => {
      expect(await own.other.storedKinds()).toEqual([])
      for (const key of ['a', 'b']) await keep('a', 'default', key)
      await keep('a.b', 'default', 'a')
      await keep('a.b_c', '', 'a')
      await keep('a.bc', 'other', 'a')
      await keep('preferences', '', 'k1.x')
      await keep('heartbeats', '', 'w')
      const found = await own.other.storedKinds()
      expect(found.toSorted((one, other) => (one.kind < other.kind ? -1 : 1))).toEqual([
        { kind: 'a', plugin: 'a' },
        { kind: 'a.b', plugin: 'a' },
        { kind: 'a.b_c', plugin: 'a' },
        { kind: 'a.bc', plugin: 'a' },
        { kind: 'heartbeats', plugin: 'statistics' },
        { kind: 'preferences', plugin: 'consent' },
      ])
    })

    it('Exactly the records of a kind are removed, of every tenant and age', async () => {
      for (let at = 0; at < 501; at++) await keep('a.b', at % 2 === 0 ? 'default' : '', `key ${at}`)
      await keep('a.bc', 'default', 'a')
      expect(await own.other.removeKind('a.b')).toBe(501)
      expect(await own.other.removeKind('a.b')).toBe(0)
      expect(await own.other.storedKinds()).toEqual([{ kind: 'a.bc', plugin: 'a' }])
    })
  })

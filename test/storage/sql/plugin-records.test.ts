import { describe, expect, it } from 'vitest'
import { PLUGIN_KINDS, type RecordKind } from '../../../src/storage/engine/plugin-records/kinds.ts'
import { DIALECTS, type DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { sqlStatements } from '../../../src/storage/sql/index.ts'
import type { Table } from '../../../src/storage/sql/tables/tables.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { HOUR } from '../storing.ts'

/** The longest key of InnoDB in bytes, and the longest character of `utf8mb4`. */
const MAX_KEY_BYTES = 3_072
const CHARACTER_BYTES = 4
const INTEGER_BYTES = 8

describe('plugin records', () => {
  it.each(Object.keys(DIALECTS) as DialectName[])('No statement of a migration on %s names a kind', (dialect) => {
    const texts = sqlStatements({ dialect }).flatMap(({ statements }) => statements)
    const named = Object.keys(PLUGIN_KINDS).filter((kind) => texts.some((text) => text.includes(kind)))
    expect(named).toEqual([])
  })

  it('No index is longer than a key of InnoDB', () => {
    const keys = Object.entries<Table>(TABLES).flatMap(([name, { columns, primaryKey, indexes }]) =>
      [primaryKey, ...indexes.map((index) => index.columns)].map((key) => {
        const own = key.map((column) => columns[column])
        const sizes = own.map((column) => (column?.length ? column.length * CHARACTER_BYTES : INTEGER_BYTES))
        return { key: `${name} ${key}`, bytes: sizes.reduce((sum, size) => sum + size, 0) }
      }),
    )
    expect(keys.filter(({ bytes }) => bytes > MAX_KEY_BYTES)).toEqual([])
  })
})

const NAMES = ['s', 's0001700000000123', '1:s', '1:s0001700000000123', '', '\u{1f600}', '12:s', 's:', '9'.repeat(200)]
const COLUMNS = ['a', 'b', 'c', 'd']

for (const { name, absent, open } of await databaseKinds())
  describe.skipIf(absent)(`plugin records on ${name}`, () => {
    const self = storeEach(open)

    it('Rows have the tenant, texts and expiry that their kind declares', async () => {
      const { other: store } = self
      const address = { tenant: 't', channel: 'email', addressKey: 'k1.a' }
      const suppression = {
        ...address,
        suppressionId: 's',
        reason: 'bounced',
        source: 'ses',
        expiresInMs: HOUR,
      } as const
      const report = { ...address, feedbackId: 'f', owner: 'delivery:d', kind: 'bounced', at: 1, suppression } as const
      await store.recordFeedback({ feedback: [report] })
      const preferences = { kind: 'preferences', tenant: '', key: 'k1.a' }
      const body = { tenant: 't', preferences: {} }
      await store.changeRecord(preferences, () => ({ ...preferences, sort: [], body }))
      const use = { useId: 'u', tenant: 't', jti: 'j', sessionId: 's', times: 1, agoMs: 0 }
      await store.recordTokenUses([{ ...use, operation: 'dispatch', outcome: 'accepted' }])
      const bucket = { tenant: 't', step: 'minute', startsAt: 0, counterId: 'c' } as const
      await store.putStatistics([{ ...bucket, revision: 1, counts: {}, keptForMs: HOUR }])
      await store.recordHeartbeat({ workerId: 'w', aliveForMs: HOUR })
      const rows = await self.db.selectFrom('sallyport_plugin_records').selectAll().execute()
      const stored = rows.map((row) => [
        row.kind,
        {
          tenant: row.tenant,
          texts: COLUMNS.filter((column) => row[column] !== null),
          expires: row.expires_at !== null,
        },
      ])
      const declared = Object.entries<RecordKind>(PLUGIN_KINDS).map(
        ([kind, { global, sort = [], expires = false }]) => [
          kind,
          { tenant: global ? '' : 't', texts: COLUMNS.slice(0, sort.length), expires },
        ],
      )
      expect(Object.fromEntries(stored)).toEqual(Object.fromEntries(declared))
    })

    it('Uses are listed for each token and session, whatever their names are', async () => {
      const names = NAMES.filter((own) => own !== '')
      const { other: store } = self
      for (const agoMs of [0, 1, 1])
        await store.recordTokenUses(
          names.map((own, at) => ({
            ...{
              useId: `${agoMs}-${at}-${crypto.randomUUID()}`,
              tenant: 't',
              jti: own,
              sessionId: own,
              times: 1,
              agoMs,
            },
            ...{ operation: 'dispatch', outcome: 'accepted' },
          })),
        )
      for (const own of names)
        for (const by of [{ jti: own }, { sessionId: own }]) {
          const listed: string[] = []
          let cursor: string | undefined
          do {
            const page = await store.listTokenUses({ tenant: 't', ...by, limit: 1, cursor })
            listed.push(...page.items.map(({ jti }) => jti))
            cursor = page.nextCursor
          } while (cursor !== undefined)
          expect(listed).toEqual([own, own, own])
        }
    })
  })

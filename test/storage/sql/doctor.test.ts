import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { RunReport, RunState } from '../../../src/model/run.ts'
import { noSpend, noTotals, type Spend } from '../../../src/model/totals.ts'
import type { RunKey } from '../../../src/ports/run-store.ts'
import type { Column } from '../../../src/storage/engine/columns.ts'
import type { JsonColumn } from '../../../src/storage/engine/json-values.ts'
import { jsonColumnsOf, KIND_NAMES, type Kind } from '../../../src/storage/engine/kinds.ts'
import type { UnreadableRecord } from '../../../src/storage/sql/index.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { findRecords, putRecords } from '../../support/records.ts'
import { databaseKinds } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, claim, deliveriesOf, delivery, digested, HOUR, ids, keyed, lease } from '../storing.ts'

const SPEND: Spend = { ...noSpend(), runs: 1 }
const REPORT: RunReport = { seq: -1, earliest: {}, counts: {}, final: {}, latest: {}, metadata: {}, tags: ['t'] }

const JSON_COLUMNS = KIND_NAMES.flatMap((kind) => jsonColumnsOf(kind).map((name) => `${kind}.${name}` as JsonColumn))

/** Columns in which an object may be empty. */
const ANY_OBJECT: readonly JsonColumn[] = ['contents.body', 'members.event_data', 'plugin_records.body']

function isPersonal(name: JsonColumn): boolean {
  const [table = '', column = ''] = name.split('.')
  const { columns }: { readonly columns: Readonly<Record<string, Column>> } = TABLES[table as Kind]
  return columns[column]?.personal === true
}

/** A record of a plugin. */
const BAD = { kind: 'notes', tenant: 'default', key: 'bad' }

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`damaged records of ${kind.name}`, () => {
    const own = storeEach(kind.open)
    const run = (text: string) => own.db.executeQuery(CompiledQuery.raw(text))

    /** A run of a user, with sums of its parent and the spend of the user. */
    function mergeRun(sessionId: string, userId: string) {
      const key: RunKey = { tenant: 'default', sessionId, runId: 'r' }
      const application: RunReport = { ...REPORT, status: 'failed', latest: { userId } }
      const state: RunState = { runId: 'r', sessionId, application }
      const add = { ...noTotals(), users: { [userId]: SPEND } }
      return own.other.mergeRun({ ...key, parentRunId: 'parent' }, () => ({
        ...{ result: 'merged', state, derived: { ended: [], pending: [] } },
        failures: [{ runId: 'r', userId, at: 1 }],
        totalsChanges: {
          ...{ session: noTotals(), descendants: [{ runId: 'parent', add }] },
          users: [{ userId, add: SPEND }],
        },
      }))
    }

    /** Stores a record of each column. */
    async function fill(): Promise<void> {
      const { other } = own
      const limits = [{ key: 'limit', max: 9, windowMs: HOUR }]
      const broken = { deliveryId: 'bad-c', channel: 'c', status: 'failed', reason: 'template_error' } as const
      const deliveries = [delivery('bad-a', { limits }), digested('bad-b', {}, { channel: 'b' }), broken]
      const source = { eventData: { name: 'Jane' } }
      const idempotency = { key: 'bad', fingerprint: 'f', ttlMs: 9 * HOUR }
      const accepted = acceptance('bad', { deliveries, source }, { idempotency })
      await other.accept({ ...accepted, answer: (dispatch) => ({ ...accepted.answer(dispatch), deliveries: [] }) })
      await mergeRun('bad', 'jane')
      await putRecords(other, { ...BAD, sort: [], body: { name: 'bad' } })
    }

    async function found(): Promise<UnreadableRecord[]> {
      const records: UnreadableRecord[] = []
      for await (const record of own.other.findUnreadable()) records.push(record)
      return records
    }

    const repaired = async () => Promise.all((await found()).map((record) => own.other.repair(record)))

    it.each(JSON_COLUMNS)('A damaged text of %s is found and repaired, and hinders nothing else', async (name) => {
      const [table = '', column = ''] = name.split('.')
      await fill()
      expect(await found()).toEqual([])
      await run(`update sallyport_${table} set ${column} = '{"x' where ${column} is not null`)
      const damaged = await found()
      expect(damaged.map((one) => `${one.table}.${one.column}`)).toContain(name)
      for (const { text, key } of damaged) {
        expect(text).toBe('{"x')
        expect(Object.keys(key)).toEqual(TABLES[table as Kind].primaryKey)
      }

      // Others work meanwhile.
      expect(await own.other.accept(keyed('good', 'good'))).toMatchObject({ outcome: 'accepted' })
      expect(await mergeRun('good', 'joe')).toMatchObject({ result: 'merged' })
      const claimed = (await claim(own.other)).deliveries
      expect(ids(claimed)).toContain('good-a')
      for (const one of claimed)
        expect(await own.other.settle({ ...lease(one), to: 'sent', attempt: { outcome: 'sent' } })).toMatchObject({
          live: true,
        })
      expect(await deliveriesOf(own.other, 'good')).toMatchObject([{ status: 'sent' }])
      const page = { tenant: 'default', limit: 9 }
      expect((await own.other.listDispatches({ ...page, first: 'oldest' })).items).toHaveLength(2)
      const runs = (await own.other.listRuns(page)).items.map(({ state }) => state.sessionId)
      expect(runs.sort()).toEqual(table === 'runs' ? ['good'] : ['bad', 'good'])
      const sessions = (await own.other.listSessions(page)).items.map(({ sessionId }) => sessionId)
      expect(sessions.sort()).toEqual(table === 'sessions' ? ['good'] : ['bad', 'good'])
      expect(await own.other.eraseDispatch('default', 'good')).toMatchObject({ dispatches: 1 })
      expect(await own.other.erase('default', { userId: 'joe' })).toBe(1)

      expect(await repaired()).not.toContain(false)
      expect(await found()).toEqual([])
      await own.other.recall('default', 'bad')
      await mergeRun('bad', 'jane')
      expect((await own.other.listRuns(page)).items).toHaveLength(1)
      expect(await own.other.findSpend('default', 'jane', 0)).toBeDefined()
      expect(await findRecords(own.other, BAD, BAD.key)).toHaveLength(table === 'plugin_records' ? 0 : 1)
      own.clock.advance(HOUR)
      for (let rounds = 0; rounds < 3; rounds++) {
        for (const one of (await claim(own.other, { a: 9, b: 9 })).deliveries) {
          const to = one.content ? ({ to: 'sent', attempt: { outcome: 'sent' } } as const) : undefined
          await own.other.settle({ ...lease(one), ...(to ?? { to: 'queued', delayMs: 0, content: { text: 'x' } }) })
        }
      }
      own.clock.advance(HOUR)
      expect(await own.other.removeDispatches({ acceptedForMs: 0, limit: 9 })).toBe(2)
      for (const table of ['dispatches', 'states', 'contents', 'jobs', 'listed', 'digests', 'members', 'plan_sources'])
        expect([table, (await run(`select * from sallyport_${table}`)).rows]).toEqual([table, []])
    })

    it.each(JSON_COLUMNS.filter(isPersonal))(
      'The data of a person with a damaged text of %s is erased',
      async (name) => {
        const [table = '', column = ''] = name.split('.')
        await fill()
        await run(`update sallyport_${table} set ${column} = '{"jane":"jane@example.com' where ${column} is not null`)
        expect(await own.other.eraseDispatch('default', 'bad')).toMatchObject({ dispatches: 1 })
        const erasure = { tenant: 'default', recipient: 'jane@example.com', dispatchIds: ['bad'] }
        await own.other.redactAnswers(erasure)
        await own.other.erase('default', { userId: 'jane' })
        await own.other.changeRecords([BAD], (draft) => draft.remove(BAD))
        if (table !== 'spends') await mergeRun('bad', 'joe')
        for (const one of Object.keys(TABLES)) {
          const { rows } = await run(`select * from sallyport_${one}`)
          expect(JSON.stringify(rows)).not.toMatch(/jane/i)
        }
      },
    )

    it.each(JSON_COLUMNS.filter((name) => !ANY_OBJECT.includes(name)))(
      'An empty object in %s is damage',
      async (name) => {
        const [table = '', column = ''] = name.split('.')
        await fill()
        await run(`update sallyport_${table} set ${column} = '{}' where ${column} is not null`)
        expect((await found()).map((one) => `${one.table}.${one.column}`)).toContain(name)
      },
    )

    it('A repair of the content of a waiting delivery lets its fallback follow', async () => {
      const held = delivery('b', { channel: 'b', status: 'held' })
      await own.other.accept(acceptance('first', { route: 'first', deliveries: [delivery('a'), held] }))
      await run(`update sallyport_contents set body = 'x' where delivery_id = 'a'`)
      expect(await repaired()).toEqual([true])
      expect(await deliveriesOf(own.other, 'first')).toMatchObject([
        { status: 'failed', reason: 'record_unreadable' },
        { status: 'queued' },
      ])
      expect(ids((await claim(own.other, { a: 9, b: 9 })).deliveries)).toEqual(['b'])
    })

    it('A record that has changed since it was found is not repaired, nor one that is being sent', async () => {
      await fill()
      await run(`update sallyport_contents set body = 'x' where delivery_id = 'bad-a'`)
      const [content] = await found()
      await own.other.eraseDispatch('default', 'bad')
      expect(await own.other.repair(content as UnreadableRecord)).toBe(false)
      await own.other.accept(acceptance('next'))
      await claim(own.other)
      await run(`update sallyport_contents set body = 'x' where dispatch_id = 'next'`)
      expect(await repaired()).toEqual([false])
      expect(await deliveriesOf(own.other, 'next')).toMatchObject([{ status: 'sending' }])
    })

    it('All rows of a large table are read', async () => {
      const rows = Array.from({ length: 2_345 }, (_, at) => `('t${at % 7}', 'k${at}', 'f', 'x', 1, 1)`)
      await run(
        `insert into sallyport_idempotency_keys (tenant, name, fingerprint, answer, expires_at, version) values ${rows.join(', ')}`,
      )
      const keys = new Set((await found()).map(({ key }) => JSON.stringify(key)))
      expect(keys.size).toBe(2_345)
    })
  })

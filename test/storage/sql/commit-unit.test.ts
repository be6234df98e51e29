import { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { Acceptance, DispatchStore } from '../../../src/ports/dispatch-store.ts'
import type { CommitUnit, NewPluginRecord, RecordChange } from '../../../src/ports/record-store.ts'
import { committer } from '../../../src/storage/engine/commit-unit.ts'
import { TABLES } from '../../../src/storage/sql/tables/tables.ts'
import { findRecords } from '../../support/records.ts'
import { databaseKinds } from '../databases.ts'
import { beforeCommit } from '../engine/records-between.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, delivery, digested, HOUR } from '../storing.ts'

const keyed = (key: string, fingerprint = 'f') => ({ idempotency: { key, fingerprint, ttlMs: HOUR } })
const places = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at)
const one = (id: string, more: Partial<Acceptance> = {}): Acceptance =>
  acceptance(id, { deliveries: [delivery(`${id}-a`)] }, more)

const NOTE = { kind: 'notes', tenant: 'default', sort: [], body: { text: 'a' } }
const note = (key: string): NewPluginRecord => ({ ...NOTE, key })
const inserted = (...keys: readonly string[]): readonly RecordChange[] =>
  keys.map((key) => ({ do: 'insert', record: note(key) }))

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent !== undefined)(`one commit of many in ${kind.name}`, () => {
    const own = storeEach(kind.open)
    const commit = (unit: CommitUnit, records = own.records()) => committer(records)(unit)

    async function rows(): Promise<Readonly<Record<string, number>>> {
      const counts: Record<string, number> = {}
      for (const table of Object.keys(TABLES)) {
        const text = `select count(*) as n from ${own.prefix}${table}`
        const found = await own.db.executeQuery<{ readonly n: unknown }>(CompiledQuery.raw(text))
        counts[table] = Number(found.rows[0]?.n)
      }
      return counts
    }

    const stored = async (id: string, store: DispatchStore = own.other): Promise<readonly string[]> =>
      (await store.findDispatch('default', id))?.deliveries.map(({ status }) => status) ?? []

    it('500 acceptances, cancellations and a record are stored together', async () => {
      await own.other.accept(one('before'))
      const accept = places(500).map((at) => one(`d${at}`, keyed(`k${at}`)))
      const cancel = ['before', 'nothing'].map((dispatchId) => ({ tenant: 'default', dispatchId }))
      const made = await commit({ accept, cancel, changes: inserted('k') })
      if (made.outcome !== 'committed') throw new Error(made.outcome)
      expect(made.answers.map(({ dispatchId }) => dispatchId)).toEqual(
        accept.map(({ dispatch }) => dispatch.dispatchId),
      )
      expect(made.cancelled).toMatchObject([{ changed: [{ deliveryId: 'before-a', status: 'cancelled' }] }, undefined])
      expect(await rows()).toMatchObject({ dispatches: 501, jobs: 500, idempotency_keys: 500, plugin_records: 1 })
      expect(await stored('before')).toEqual(['cancelled'])
      expect(await own.other.accept(one('again', keyed('k499')))).toEqual({
        outcome: 'replayed',
        answer: made.answers[499],
      })
    })

    it('501 of anything are refused before anything is read', async () => {
      const accept = places(501).map((at) => one(`d${at}`))
      const message = 'accept has 501 entries; one commit takes at most 500'
      await expect(commit({ accept })).rejects.toMatchObject({ code: 'option_invalid', message })
      const cancel = accept.map(({ dispatch }) => dispatch)
      await expect(commit({ cancel })).rejects.toThrow('cancel has 501 entries')
      const changes = inserted(...places(501).map(String))
      await expect(commit({ changes })).rejects.toThrow('changes has 501 entries')
    })

    it('Two changes of one record are refused', async () => {
      const refused = commit({ changes: [...inserted('k'), { do: 'remove', record: note('k'), version: 1 }] })
      await expect(refused).rejects.toMatchObject({
        code: 'option_invalid',
        message: 'changes has two entries for one record',
      })
    })

    const limited = { quotas: [{ key: 'q', max: 1, windowMs: HOUR }] }
    const REFUSALS: Readonly<Record<string, { readonly given: Acceptance; readonly refused: object }>> = {
      'a dispatch id that exists': { given: one('taken'), refused: { outcome: 'id_taken' } },
      'a dispatch id of the same unit': { given: one('d3'), refused: { outcome: 'id_taken' } },
      'a delivery id that exists': {
        given: acceptance('new', { deliveries: [delivery('taken-a')] }),
        refused: { outcome: 'id_taken' },
      },
      'a delivery id of the same unit': {
        given: acceptance('new', { deliveries: [delivery('d3-a')] }),
        refused: { outcome: 'id_taken' },
      },
      'a key that has another body': { given: one('new', keyed('k', 'other')), refused: { outcome: 'key_reused' } },
      'a key that was answered': {
        given: one('new', keyed('k')),
        refused: { outcome: 'replayed', answer: { dispatchId: 'taken' } },
      },
      'a key of the same unit': {
        given: one('new', keyed('k3')),
        refused: { outcome: 'replayed', answer: { dispatchId: 'd3' } },
      },
      'a key of the same unit with another body': {
        given: one('new', keyed('k3', 'other')),
        refused: { outcome: 'key_reused' },
      },
      'a spent quota': { given: one('new', limited), refused: { outcome: 'quota_spent' } },
    }

    it.each(Object.entries(REFUSALS))('%s among 500 refuses all of them', async (_, { given, refused }) => {
      await own.other.accept(one('taken', { ...keyed('k'), ...limited }))
      await own.other.accept(one('waiting'))
      const before = await rows()
      const accept = places(500).map((at) => (at === 400 ? given : one(`d${at}`, keyed(`k${at}`))))
      const cancel = [{ tenant: 'default', dispatchId: 'waiting' }]
      const made = await commit({ accept, cancel, changes: inserted('k') })
      expect(made).toMatchObject({ outcome: 'refused', refused: [{ at: 400, ...refused }] })
      expect(await rows()).toEqual(before)
      expect(await stored('waiting')).toEqual(['queued'])
    })

    it('Records that have changed since they were read are named, and nothing is stored', async () => {
      const keys = ['changed', 'compared', 'kept', 'removed']
      expect(await commit({ changes: inserted(...keys) })).toMatchObject({ outcome: 'committed' })
      const read = await findRecords(own.other, { kind: 'notes', tenant: 'default' }, ...keys)
      const [changed, compared, kept, removed] = keys.map((name) => read.find(({ key }) => key === name))
      if (!changed || !compared || !kept || !removed) throw new Error('a record is missing')
      await commit({
        changes: [
          { do: 'update', record: changed, version: changed.version },
          { do: 'update', record: compared, version: compared.version },
          { do: 'remove', record: removed, version: removed.version },
        ],
      })
      const before = await rows()
      const changes: readonly RecordChange[] = [
        { do: 'update', record: changed, version: changed.version },
        { do: 'compare', record: compared, version: compared.version },
        ...inserted('kept', 'new'),
        { do: 'remove', record: removed, version: removed.version },
      ]
      const names = keys.map((key) => ({ kind: 'notes', tenant: 'default', key }))
      const made = await commit({ accept: [one('A')], changes })
      expect(made).toEqual({ outcome: 'conflict', records: expect.arrayContaining(names) })
      expect(await rows()).toEqual(before)
    })

    it('Of two commits that change one record, the second is told so', async () => {
      const unit = (id: string): CommitUnit => ({ accept: [one(id)], changes: inserted('k') })
      // The other one is written just before this one.
      const made = await commit(
        unit('A'),
        beforeCommit(own.records(), () => commit(unit('B'))),
      )
      expect(made).toEqual({ outcome: 'conflict', records: [{ kind: 'notes', tenant: 'default', key: 'k' }] })
      expect([await stored('A'), await stored('B')]).toEqual([[], ['queued']])
    })

    it('Concurrent commits share a transaction, and each gets its own answers', async () => {
      let commits = 0
      const records = own.records()
      const shared = committer({
        ...records,
        commit(changes) {
          commits += 1
          return records.commit(changes)
        },
      })
      await own.other.accept(one('waiting'))
      const units: readonly CommitUnit[] = [
        { accept: [one('A'), one('B')], changes: inserted('a') },
        { accept: [one('C')], changes: inserted('c'), cancel: [{ tenant: 'default', dispatchId: 'waiting' }] },
        { changes: inserted('d') },
      ]
      const made = await Promise.all(units.map(shared))
      expect(made).toMatchObject([
        { outcome: 'committed', answers: [{ dispatchId: 'A' }, { dispatchId: 'B' }], cancelled: [] },
        { outcome: 'committed', answers: [{ dispatchId: 'C' }], cancelled: [{ changed: [{ status: 'cancelled' }] }] },
        { outcome: 'committed', answers: [], cancelled: [] },
      ])
      expect(commits).toBe(1)
    })

    it('Of concurrent commits, one that is refused or late takes no other with it', async () => {
      await own.other.accept(one('taken'))
      await commit({ changes: inserted('known', 'shared') })
      const [shared] = await findRecords(own.other, { kind: 'notes', tenant: 'default' }, 'shared')
      if (!shared) throw new Error('the record is missing')
      const update: RecordChange = { do: 'update', record: shared, version: shared.version }
      const units: readonly CommitUnit[] = [
        { accept: [one('A')], changes: inserted('a') },
        { accept: [one('taken')], changes: inserted('b') },
        { accept: [one('C')], changes: inserted('known') },
        { accept: [one('D')], changes: [...inserted('d'), update] },
        { accept: [one('E')], changes: [...inserted('e'), update] },
      ]
      const together = committer(own.records())
      const made = await Promise.all(units.map(together))
      expect(made.map(({ outcome }) => outcome).slice(0, 3)).toEqual(['committed', 'refused', 'conflict'])
      expect(
        made
          .map(({ outcome }) => outcome)
          .slice(3)
          .sort(),
      ).toEqual(['committed', 'conflict'])
      expect([await stored('A'), await stored('C')]).toEqual([['queued'], []])
    })

    it('Events of one commit join one digest, after a cancellation has ended the digest that was open', async () => {
      await own.other.accept(acceptance('old', { deliveries: [digested('old-a', { max: 9 })] }))
      const accept = ['A', 'B'].map((id) => acceptance(id, { deliveries: [digested(`${id}-a`, { max: 9 })] }))
      await commit({ accept, cancel: [{ tenant: 'default', dispatchId: 'old' }] })
      expect(await own.other.findDispatch('default', 'B')).toMatchObject({
        deliveries: [{ deliveryId: 'A-a', eventCount: 2 }],
      })
      expect(await stored('old')).toEqual(['cancelled'])
    })
  })

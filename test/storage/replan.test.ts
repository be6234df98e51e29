import type { CompiledQuery } from 'kysely'
import { describe, expect, it } from 'vitest'
import type { DispatchStore, NewDelivery } from '../../src/ports/dispatch-store.ts'
import { storeOf } from '../../src/storage/engine/engine-store.ts'
import { openPostgresql } from './databases.ts'
import { afterRead } from './engine/records-between.ts'
import { hostBetween } from './sql/host-between.ts'
import { run } from './sql/migrating-stores.ts'
import { storeEach } from './store-each.ts'
import { acceptance, claimOne, delivery } from './storing.ts'

const SOURCE = { eventData: { word: 'canary' } }
const OPTIONS = { expiresInMs: 60_000 }
const broken: NewDelivery = { deliveryId: 'x', channel: 'a', status: 'failed', reason: 'template_error' }
const failed = (id = '1') => acceptance(id, { deliveries: [broken, delivery('y', { channel: 'b' })], source: SOURCE })

describe('replan in SQL', () => {
  const own = storeEach(openPostgresql)
  const sources = () => run<{ source: string }>(own.db, `select source from ${own.prefix}plan_sources`)

  it('accept without a failure in host code executes no statement for plan sources', async () => {
    const texts: string[] = []
    const counting = hostBetween(own.db, <Row>(query: CompiledQuery<Row>) => {
      texts.push(query.sql)
      return own.db.executeQuery(query)
    })
    await own.over(counting).accept(acceptance('1'))
    expect(texts).toHaveLength(1)
    expect(texts.join()).not.toContain('plan_sources')
    expect(await sources()).toEqual([])
    await own.over(counting).accept(failed('2'))
    expect(texts).toHaveLength(2)
    expect(await sources()).toHaveLength(1)
  })

  it('Only a replan reads plan sources', async () => {
    const texts: string[] = []
    const counting = hostBetween(own.db, <Row>(query: CompiledQuery<Row>) => {
      texts.push(query.sql)
      return own.db.executeQuery(query)
    })
    const store = own.over(counting)
    await store.accept(failed())
    texts.length = 0
    await store.findDispatch('default', '1')
    await store.listDispatches({ tenant: 'default', limit: 9 })
    await claimOne(store, 'b')
    await store.retry('default', '1', OPTIONS)
    expect(texts.join()).not.toContain('plan_sources')
  })

  it('Replanning the last failed delivery removes the plan source', async () => {
    await own.other.accept(failed())
    const { version = 0 } = (await own.other.findReplannable('default', '1')) ?? {}
    await own.other.replan('default', '1', version, [delivery('x')], OPTIONS)
    expect(await sources()).toEqual([])
  })

  it('Removing a dispatch removes its plan source, also without a failure in host code', async () => {
    const skipped = delivery('x', { status: 'skipped', reason: 'condition_false' })
    await own.other.accept(acceptance('1', { deliveries: [skipped], source: SOURCE }))
    expect(await sources()).toHaveLength(1)
    own.clock.advance(2)
    expect(await own.other.removeDispatches?.({ acceptedForMs: 1, limit: 9 })).toBe(1)
    expect(await sources()).toEqual([])
  })

  it('replan returns a conflict when another process replanned since the read', async () => {
    await own.other.accept(failed())
    const { version = 0 } = (await own.other.findReplannable('default', '1')) ?? {}
    const replan = (store: DispatchStore, text: string) =>
      store.replan('default', '1', version, [delivery('x', { content: { text } })], OPTIONS)
    const slow = storeOf(afterRead(own.records(), 'plan_sources', () => replan(own.other, 'first')))
    expect(await replan(slow, 'second')).toEqual({ outcome: 'conflict' })
    const found = await own.other.findDispatch('default', '1')
    expect(found?.deliveries).toMatchObject([{ status: 'queued', content: { text: 'first' } }, {}])
  })

  it('replan succeeds while a worker claims another delivery of the dispatch', async () => {
    await own.other.accept(failed())
    const { version = 0 } = (await own.other.findReplannable('default', '1')) ?? {}
    const slow = storeOf(afterRead(own.records(), 'plan_sources', () => claimOne(own.other, 'b')))
    const outcome = await slow.replan('default', '1', version, [delivery('x')], OPTIONS)
    expect(outcome).toMatchObject({ outcome: 'replanned', changed: [{ deliveryId: 'x' }] })
    const statuses = (await own.other.findDispatch('default', '1'))?.deliveries.map(({ status }) => status)
    expect(statuses).toEqual(['queued', 'sending'])
  })

  it('replan rolls back with the transaction of the host', async () => {
    await own.other.accept(failed())
    const { version = 0 } = (await own.other.findReplannable('default', '1')) ?? {}
    const within = async (isUndone: boolean) =>
      own.db.transaction().execute(async (transaction) => {
        const store = own.over(own.db).within(transaction)
        const outcome = await store.replan('default', '1', version, [delivery('x')], OPTIONS)
        expect(outcome?.outcome).toBe('replanned')
        if (isUndone) throw new Error('undone')
      })
    await expect(within(true)).rejects.toThrow('undone')
    expect(await own.other.findReplannable('default', '1')).toMatchObject({ version, source: SOURCE })
    await within(false)
    expect(await own.other.findReplannable('default', '1')).toBeUndefined()
    expect(await claimOne(own.other)).toMatchObject({ deliveryId: 'x', attempts: 1 })
  })
})

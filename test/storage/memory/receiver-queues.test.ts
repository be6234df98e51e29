import { describe, expect, it } from 'vitest'
import { type LeftOut, type QueueItem, receiverQueues } from '../../../src/storage/memory/receiver-queues.ts'
import { fc, runs } from '../../support/properties.ts'

const CHANNELS = ['a', 'b'] as const
const KEYS = [undefined, '', 'x', 'y'] as const

const TENANTS = ['t1', 't2', 't3'] as const

type Item = QueueItem & { readonly tenant: string }

const item = (channel: string, concurrencyKey?: string, tenant = 't1', expiresAt = 1_000): Item => ({
  ...{ channel, concurrencyKey, tenant, wakeAt: 0, slot: -1, expiresAt },
})

type Step =
  | Place
  | { readonly do: 'move' | 'remove'; readonly which: number; readonly at: number }
  | { readonly do: 'drain'; readonly channels: readonly string[]; readonly leftOut: LeftOut; readonly at: number }

interface Place {
  readonly do: 'place'
  readonly channel: string
  readonly key: string | undefined
  readonly tenant: string
  readonly at: number
  readonly expiresAt: number
}

const isBusy = (one: Item, busy: LeftOut['busy']): boolean =>
  busy.some(
    ({ channel, concurrencyKey, tenant = one.tenant }) =>
      channel === one.channel && concurrencyKey === one.concurrencyKey && tenant === one.tenant,
  )

describe('receiver queues', () => {
  it('A claim skips a busy receiver and leaves its queue unchanged', () => {
    const queues = receiverQueues<Item>(({ tenant }) => tenant)
    const [dead, alive] = [item('a', 'dead'), item('a', 'alive')]
    queues.place(dead, 1)
    queues.place(alive, 2)
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    expect(queues.without({ busy: [...busy, ...busy] }, () => queues.first(['a']))).toBe(alive)
    expect(queues.first(['a'])).toBe(dead)
  })

  it('A claim that throws restores the skipped queues', () => {
    const queues = receiverQueues<Item>(({ tenant }) => tenant)
    const dead = item('a', 'dead')
    queues.place(dead, 1)
    const work = () =>
      queues.without({ busy: [{ channel: 'a', concurrencyKey: 'dead' }] }, () => {
        throw new Error('no')
      })
    expect(work).toThrow('no')
    expect(queues.first(['a'])).toBe(dead)
  })

  it('Removing an entry without a queue makes no receiver visible', () => {
    const queues = receiverQueues<Item>(({ tenant }) => tenant)
    const dead = item('a', 'dead')
    queues.place(dead, 1)
    queues.without({ busy: [{ channel: 'a', concurrencyKey: 'dead' }] }, () => {
      queues.remove(item('a', 'dead'))
      expect(queues.first(['a'])).toBeUndefined()
    })
  })

  it('Queues of a million finished receivers use no memory', () => {
    const queues = receiverQueues<Item>(({ tenant }) => tenant)
    for (let at = 0; at < 1_000_000; at++) {
      const one = item('a', `${at}`)
      queues.place(one, at)
      queues.remove(one)
    }
    expect(queues.queues).toBe(0)
  })

  it('The queues equal a full search after any sequence of changes', () => {
    const time = fc.integer({ min: 0, max: 30 })
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.record({
        do: fc.constant('place' as const),
        channel: fc.constantFrom(...CHANNELS),
        key: fc.constantFrom(...KEYS),
        tenant: fc.constantFrom(...TENANTS),
        at: time,
        expiresAt: time,
      }),
      fc.record({ do: fc.constantFrom('move' as const, 'remove' as const), which: fc.nat(), at: time }),
      fc.record({
        do: fc.constant('drain' as const),
        channels: fc.subarray([...CHANNELS, 'never']),
        leftOut: fc.record({
          busy: fc.array(
            fc.record(
              {
                channel: fc.constantFrom(...CHANNELS),
                concurrencyKey: fc.constantFrom('', 'x', 'y', 'z'),
                tenant: fc.constantFrom(...TENANTS, 't4'),
              },
              { requiredKeys: ['channel', 'concurrencyKey'] },
            ),
            { maxLength: 4 },
          ),
          full: fc.array(
            fc.record({ channel: fc.constantFrom(...CHANNELS), tenant: fc.constantFrom(...TENANTS, 't4') }),
            {
              maxLength: 2,
            },
          ),
        }),
        at: time,
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
        const queues = receiverQueues<Item>(({ tenant }) => tenant)
        const model: Item[] = []
        const waiting = (channels: readonly string[], { busy, full = [] }: LeftOut): readonly Item[] =>
          model
            .filter((one) => channels.includes(one.channel))
            .filter((one) => !isBusy(one, busy))
            .filter((one) => !full.some((f) => f.channel === one.channel && f.tenant === one.tenant))
            .sort((one, other) => one.wakeAt - other.wakeAt)
        const expired = (busy: LeftOut['busy'], now: number): ReadonlySet<Item> =>
          new Set(model.filter((one) => isBusy(one, busy) && one.wakeAt <= now && one.expiresAt <= now))
        const earliest = (channels: readonly string[], leftOut: LeftOut): number | undefined =>
          waiting(channels, leftOut)[0]?.wakeAt
        /** Tenants with their first items, in the order of turns after the second. */
        const turns = (channel: string, leftOut: LeftOut) =>
          ['t3', 't1', 't2'].flatMap((tenant) => {
            const firstAt = waiting([channel], leftOut).find((one) => one.tenant === tenant)?.wakeAt
            return firstAt === undefined ? [] : [{ tenant, firstAt }]
          })
        const expectTurns = (leftOut: LeftOut): void => {
          for (const channel of CHANNELS) {
            expect([...queues.tenantsAfter(channel, 't2')]).toEqual(turns(channel, leftOut))
            for (const { tenant, firstAt } of turns(channel, leftOut))
              expect(queues.firstOf(channel, tenant)?.wakeAt).toBe(firstAt)
          }
        }
        for (const next of steps) {
          if (next.do === 'place') {
            const one = item(next.channel, next.key, next.tenant, next.expiresAt)
            queues.place(one, next.at)
            model.push(one)
          } else if (next.do === 'drain') {
            const { channels, leftOut, at } = next
            expect(queues.expiredOf(leftOut.busy, at)).toEqual(expired(leftOut.busy, at))
            queues.without(leftOut, () => {
              expectTurns(leftOut)
              for (;;) {
                const found = queues.first(channels)
                expect(found?.wakeAt).toBe(earliest(channels, leftOut))
                if (!found || found.wakeAt > at) break
                if (found.wakeAt % 2 === 0) queues.place(found, at + 1 + (found.wakeAt % 5))
                else {
                  queues.remove(found)
                  model.splice(model.indexOf(found), 1)
                }
              }
            })
          } else {
            const one = model[next.which % model.length]
            if (!one) continue
            if (next.do === 'move') queues.place(one, next.at)
            else {
              queues.remove(one)
              model.splice(model.indexOf(one), 1)
            }
          }
          expect(queues.first(CHANNELS)?.wakeAt).toBe(earliest(CHANNELS, { busy: [] }))
          expectTurns({ busy: [] })
          expect(queues.queues).toBe(
            new Set(model.map((one) => JSON.stringify([one.channel, one.tenant, one.concurrencyKey]))).size,
          )
        }
      }),
      { numRuns: runs(200) },
    )
  })
})

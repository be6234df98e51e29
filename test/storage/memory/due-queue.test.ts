import { describe, expect, it } from 'vitest'
import { type Due, DueQueue } from '../../../src/storage/memory/due-queue.ts'
import { fc, runs } from '../../support/properties.ts'

interface Entry extends Due {
  readonly name: number
}

type Step =
  | readonly ['add', wakeAt: number]
  | readonly ['take']
  | readonly ['remove', which: number]
  | readonly ['move', which: number, wakeAt: number]

describe('DueQueue', () => {
  it('An empty due queue has no first entry', () => {
    expect(new DueQueue().first).toBeUndefined()
  })

  it('Removing an entry twice from a due queue changes nothing', () => {
    const queue = new DueQueue<Entry>()
    const one: Entry = { name: 1, wakeAt: 1, slot: -1 }
    queue.place(one, 1)
    queue.remove(one)
    queue.remove(one)
    expect([queue.first, one.slot]).toEqual([undefined, -1])
    queue.place(one, 1)
    expect(queue.first).toBe(one)
  })

  it('A due queue stays in order when an early entry fills the gap of a removed one', () => {
    const queue = new DueQueue<Entry>()
    const entries = [0, 10, 5, 11, 12, 6, 7].map((wakeAt, name): Entry => ({ name, wakeAt, slot: -1 }))
    for (const entry of entries) queue.place(entry, entry.wakeAt)
    const [, , , eleven] = entries
    if (eleven) queue.remove(eleven)
    for (const wakeAt of [20, 21, 22]) queue.place({ name: wakeAt, wakeAt, slot: -1 }, wakeAt)
    const drained: number[] = []
    for (let first = queue.first; first; first = queue.first) {
      drained.push(first.wakeAt)
      queue.remove(first)
    }
    expect(drained).toEqual([0, 5, 6, 7, 10, 12, 20, 21, 22])
  })

  it('A due queue gives the earliest entry after any additions, moves and removals', () => {
    const step = fc.oneof(
      fc.tuple(fc.constant('add' as const), fc.integer({ min: 0, max: 40 })),
      fc.tuple(fc.constant('take' as const)),
      fc.tuple(fc.constant('remove' as const), fc.nat()),
      fc.tuple(fc.constant('move' as const), fc.nat(), fc.integer({ min: 0, max: 40 })),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps: readonly Step[]) => {
        const queue = new DueQueue<Entry>()
        const model: Entry[] = []
        for (const [name, [kind, value = 0, to = 0]] of steps.entries()) {
          if (kind === 'add') {
            const entry: Entry = { name, wakeAt: value, slot: -1 }
            queue.place(entry, value)
            model.push(entry)
          } else {
            const entry = kind === 'take' ? queue.first : model[value % model.length]
            if (entry && kind === 'move') queue.place(entry, to)
            else if (entry) {
              queue.remove(entry)
              model.splice(model.indexOf(entry), 1)
              expect(entry.slot).toBe(-1)
            }
          }
          model.sort((one, other) => one.wakeAt - other.wakeAt)
          expect(queue.first?.wakeAt).toBe(model[0]?.wakeAt)
          const slots = new Set(model.map(({ slot }) => slot))
          expect(slots.size === model.length && model.every(({ slot }) => slot >= 0)).toBe(true)
        }
        const drained: number[] = []
        for (let first = queue.first; first; first = queue.first) {
          drained.push(first.wakeAt)
          queue.remove(first)
        }
        expect(drained).toEqual(model.map(({ wakeAt }) => wakeAt))
      }),
      { numRuns: runs(500) },
    )
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Due, DueHeap } from '../../../src/storage/memory/due-heap.ts'

interface Entry extends Due {
  readonly name: number
}

type Step =
  | readonly ['add', wakeAt: number]
  | readonly ['take']
  | readonly ['remove', which: number]
  | readonly ['move', which: number, wakeAt: number]

describe('DueHeap', () => {
  it('an empty heap has no first entry', () => {
    expect(new DueHeap().first).toBeUndefined()
  })

  it('removing an entry twice changes nothing', () => {
    const heap = new DueHeap<Entry>()
    const one: Entry = { name: 1, wakeAt: 1, slot: -1 }
    heap.place(one, 1)
    heap.remove(one)
    heap.remove(one)
    expect([heap.first, one.slot]).toEqual([undefined, -1])
    heap.place(one, 1)
    expect(heap.first).toBe(one)
  })

  it('a removal keeps the order when the moved entry belongs above the gap', () => {
    const heap = new DueHeap<Entry>()
    const entries = [0, 10, 5, 11, 12, 6, 7].map((wakeAt, name): Entry => ({ name, wakeAt, slot: -1 }))
    for (const entry of entries) heap.place(entry, entry.wakeAt)
    const [, , , eleven] = entries
    if (eleven) heap.remove(eleven)
    for (const wakeAt of [20, 21, 22]) heap.place({ name: wakeAt, wakeAt, slot: -1 }, wakeAt)
    const drained: number[] = []
    for (let first = heap.first; first; first = heap.first) {
      drained.push(first.wakeAt)
      heap.remove(first)
    }
    expect(drained).toEqual([0, 5, 6, 7, 10, 12, 20, 21, 22])
  })

  it('the heap equals a sorted list after any sequence of changes', () => {
    const step = fc.oneof(
      fc.tuple(fc.constant('add' as const), fc.integer({ min: 0, max: 40 })),
      fc.tuple(fc.constant('take' as const)),
      fc.tuple(fc.constant('remove' as const), fc.nat()),
      fc.tuple(fc.constant('move' as const), fc.nat(), fc.integer({ min: 0, max: 40 })),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps: readonly Step[]) => {
        const heap = new DueHeap<Entry>()
        const model: Entry[] = []
        for (const [name, [kind, value = 0, to = 0]] of steps.entries()) {
          if (kind === 'add') {
            const entry: Entry = { name, wakeAt: value, slot: -1 }
            heap.place(entry, value)
            model.push(entry)
          } else {
            const entry = kind === 'take' ? heap.first : model[value % model.length]
            if (entry && kind === 'move') heap.place(entry, to)
            else if (entry) {
              heap.remove(entry)
              model.splice(model.indexOf(entry), 1)
              expect(entry.slot).toBe(-1)
            }
          }
          model.sort((one, other) => one.wakeAt - other.wakeAt)
          expect(heap.first?.wakeAt).toBe(model[0]?.wakeAt)
          const slots = new Set(model.map(({ slot }) => slot))
          expect(slots.size === model.length && model.every(({ slot }) => slot >= 0 && slot < model.length)).toBe(true)
        }
        const drained: number[] = []
        for (let first = heap.first; first; first = heap.first) {
          drained.push(first.wakeAt)
          heap.remove(first)
        }
        expect(drained).toEqual(model.map(({ wakeAt }) => wakeAt))
      }),
      { numRuns: 500 },
    )
  })
})

import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { until } from '../../support/until.ts'
import { ADA, approving, NAME } from './approving.ts'

describe('reads of those who wait', () => {
  it('The read that finds an end is the last one, for all who wait for it', async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    let reads = 0
    const store = {
      ...memory,
      findRecords(...given: Parameters<typeof memory.findRecords>) {
        reads += 1
        return memory.findRecords(...given)
      },
    }
    const here = approving({ store, clock })
    const there = approving({ store: memory, clock })
    await here.request()
    const others = clock.timers
    const waits = [1, 2, 3].map(() => here.sallyport.approvals.wait(NAME))
    // Each has a timer, and all share another one.
    await until(() => clock.timers - others === waits.length + 1)
    await there.answer(ADA, 'accept', { comment: 'Go on' })
    reads = 0
    clock.advance(1_000)
    for (const seen of await Promise.all(waits))
      expect(seen).toMatchObject({ status: 'accepted', answers: [{ user: ADA, comment: 'Go on' }] })
    expect(reads).toBe(1)
  })
})

import { expect, it } from 'vitest'
import { coalesced } from '../../src/queues/coalescer.ts'
import { fakeClock } from '../support/fake-clock.ts'

const turn = () => new Promise(setImmediate)

it('A call that failed is made again after a second, also if nothing asks for it', async () => {
  const clock = fakeClock()
  const faults: unknown[] = []
  let calls = 0
  const call = async () => {
    if (++calls === 1) throw new Error('down')
  }
  const coalescer = coalesced(call, clock, (cause) => faults.push(cause))
  coalescer.ask()
  await turn()
  clock.advance(999)
  await turn()
  expect([calls, faults]).toEqual([1, [new Error('down')]])
  clock.advance(1)
  await turn()
  expect(calls).toBe(2)
  await coalescer.close()
})

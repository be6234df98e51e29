import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { ADA, approving, NAME, refusal } from './approving.ts'

/** Returns a function that resolves when this many calls wait: each has a timer, and all share another one. */
function waitsOf(clock: FakeClock): (count: number) => Promise<void> {
  const others = clock.timers
  return async (count) => {
    while (clock.timers - others !== (count === 0 ? 0 : count + 1)) await setImmediate()
  }
}

describe('a wait for the end of an approval', () => {
  it('An answer before it ends it at once', async () => {
    const { sallyport, request, answer } = approving()
    await request()
    await answer()
    expect(await sallyport.approvals.wait(NAME)).toMatchObject({ status: 'accepted' })
  })

  it('An answer in the same process ends all waits for it, and no other', async () => {
    const { sallyport, request, answer, clock } = approving()
    await request()
    await request({ approvalId: 'other' })
    const ended: string[] = []
    const waitsIn = waitsOf(clock)
    const wait = (approvalId: string) =>
      sallyport.approvals.wait({ ...NAME, approvalId }).then(({ status }) => ended.push(`${approvalId} ${status}`))
    const waits = [wait('refund-1'), wait('refund-1'), wait('other')]
    await waitsIn(3)
    await answer()
    await Promise.all(waits.slice(0, 2))
    await waitsIn(1)
    expect(ended).toEqual(['refund-1 accepted', 'refund-1 accepted'])
    await sallyport.stop()
  })

  it('An answer of another process that sends no wake ends it within a second', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const here = approving({ store, clock })
    const there = approving({ store, clock })
    await here.request()
    const waitsIn = waitsOf(clock)
    const waiting = here.sallyport.approvals.wait(NAME)
    await waitsIn(1)
    await there.answer()
    clock.advance(1_000)
    expect(await waiting).toMatchObject({ status: 'accepted' })
  })

  it('It ends with the time to wait, the time of the approval, an abort, or the stop of the host', async () => {
    const { sallyport, request, clock } = approving()
    await request({ expiresInMs: 60_000 })
    const waitsIn = waitsOf(clock)
    const timed = sallyport.approvals.wait({ ...NAME, waitMs: 500 })
    const abort = new AbortController()
    const aborted = sallyport.approvals.wait({ ...NAME, signal: abort.signal })
    const long = sallyport.approvals.wait(NAME)
    await waitsIn(3)
    clock.advance(500)
    expect(await timed).toMatchObject({ status: 'open' })
    abort.abort()
    expect(await aborted).toMatchObject({ status: 'open' })
    clock.advance(59_500)
    expect(await long).toMatchObject({ status: 'expired' })
    await request({ approvalId: 'other' })
    const thenIn = waitsOf(clock)
    const stopped = sallyport.approvals.wait({ ...NAME, approvalId: 'other' })
    await thenIn(1)
    await sallyport.stop()
    expect(await stopped).toMatchObject({ status: 'open' })
    await thenIn(0)
    expect(await sallyport.approvals.wait({ ...NAME, approvalId: 'other' })).toMatchObject({ status: 'open' })
  })

  it('All waits of a process share one read each second', async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    let reads = 0
    const store = {
      ...memory,
      findRecords: (...given: Parameters<typeof memory.findRecords>) => {
        reads += 1
        return memory.findRecords(...given)
      },
    }
    const { sallyport, request } = approving({ store, clock })
    const ids = Array.from({ length: 50 }, (_, at) => `a${at}`)
    for (const approvalId of ids) await request({ approvalId })
    const waitsIn = waitsOf(clock)
    const waits = ids.map((approvalId) => sallyport.approvals.wait({ ...NAME, approvalId, waitMs: 3_500 }))
    await waitsIn(50)
    reads = 0
    for (let second = 0; second < 3; second++) {
      clock.advance(1_000)
      await waitsIn(50)
    }
    expect(reads).toBe(3)
    clock.advance(500)
    await Promise.all(waits)
    await waitsIn(0)
  })

  it('A store that fails delays it, and is reported', async () => {
    const clock = fakeClock()
    const memory = memoryStore({ clock })
    let isDown = false
    const down = new Error('down')
    const findRecords = (...given: Parameters<typeof memory.findRecords>) =>
      isDown ? Promise.reject(down) : memory.findRecords(...given)
    const { sallyport, request, answer, logger } = approving({ store: { ...memory, findRecords }, clock })
    const there = approving({ store: memory, clock })
    await request()
    const waitsIn = waitsOf(clock)
    const waiting = sallyport.approvals.wait(NAME)
    await waitsIn(1)
    isDown = true
    await there.answer()
    clock.advance(1_000)
    await waitsIn(1)
    expect(logger.lines.map(({ event }) => event)).toContain('approval.failed')
    isDown = false
    clock.advance(1_000)
    expect(await waiting).toMatchObject({ status: 'accepted' })
    expect(await answer(ADA)).toMatchObject({ replayed: true })
  })

  it('Beyond maxWaiting it is refused; each tenant has a share', async () => {
    const { sallyport, request, clock } = approving({ options: { maxWaiting: 4 } })
    const of = (tenant: string) => ({ ...NAME, tenant })
    for (const tenant of ['default', 'other']) await request({ tenant })
    const waitsIn = waitsOf(clock)
    const waits = [of('default'), of('default'), of('default')].map((name) => sallyport.approvals.wait(name))
    await waitsIn(3)
    waits.push(sallyport.approvals.wait(of('other')))
    await waitsIn(4)
    expect(await refusal(sallyport.approvals.wait(of('other')))).toBe('503 overloaded')
    await sallyport.approvals.cancel(of('default'))
    await Promise.all(waits.slice(0, 3))
    waits.push(sallyport.approvals.wait(of('other')))
    await waitsIn(2)
    await sallyport.approvals.cancel(of('other'))
    expect((await Promise.all(waits)).map(({ status }) => status)).toEqual(waits.map(() => 'cancelled'))
  })

  it('An unknown approval, and wrong options', async () => {
    const { sallyport } = approving()
    expect(await refusal(sallyport.approvals.wait(NAME))).toBe('404 approval_not_found')
    expect(await sallyport.approvals.get(NAME)).toBeUndefined()
    await expect(sallyport.approvals.wait({ ...NAME, waitMs: -1 })).rejects.toMatchObject({ code: 'option_invalid' })
    await expect(sallyport.approvals.get({ ...NAME, sessionId: '' })).rejects.toMatchObject({ code: 'option_invalid' })
  })
})

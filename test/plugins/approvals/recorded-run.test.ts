import { describe, expect, it } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createApprovalClient } from '../../../src/client/approvals.ts'
import { createClient } from '../../../src/client/client.ts'
import type { RecordedRun } from '../../../src/client/recorded-run.ts'
import { createRunRecorder, type RunRecorder } from '../../../src/client/run-recorder.ts'
import { ADA, type ApprovalHost, approving, HOUR_MS, NAME, REFUND } from './approving.ts'

const ASK = { approvalId: 'refund-1', eventType: 'refund.approval', message: 'Refund 900 USD?', action: REFUND }

interface Recording extends ApprovalHost {
  readonly recorder: RunRecorder
  readonly run: RecordedRun
  readonly approvals: ReturnType<typeof createApprovalClient>
  /** The status of the run and what it waits for, after all was sent. */
  state(): Promise<readonly unknown[]>
}

/** A recorder and a client of approvals over a host. */
function recording(): Recording {
  const host = approving()
  const handle = toFetch(host.sallyport)
  const own = {
    baseUrl: 'http://shop.test',
    token: 'asker',
    fetch: (url: string, init?: RequestInit) => handle(new Request(url, init)),
  }
  const recorder = createRunRecorder({ client: createClient(own), heartbeatMs: 0 })
  return {
    ...host,
    recorder,
    approvals: createApprovalClient(own),
    run: recorder.start({ sessionId: 's1', runId: 'r1' }),
    async state() {
      await recorder.flush()
      const { status, waitingFor } = (await host.sallyport.runs.get({ sessionId: 's1', runId: 'r1' })) ?? {}
      return [status, waitingFor]
    },
  }
}

/** Waits until the question is stored. */
async function isAsked({ sallyport }: ApprovalHost): Promise<void> {
  while (!(await sallyport.approvals.get(NAME))) await new Promise(setImmediate)
}

describe('a recorded run that asks for approval', () => {
  it('It waits for approval until an approver has answered, and runs after', async () => {
    const host = recording()
    const asking = host.run.requestApproval(host.approvals, ASK)
    await isAsked(host)
    while ((await host.state())[0] !== 'waiting') await new Promise(setImmediate)
    expect(await host.state()).toEqual(['waiting', 'approval'])
    await host.answer(ADA, 'accept')
    host.clock.advance(1_000)
    expect(await asking).toMatchObject({ status: 'accepted', approvalId: 'refund-1' })
    expect((await host.state())[0]).toBe('running')
    await host.recorder.close()
  })

  it('With waitMs, it goes on while the question is open; and gets the stored answer when it asks again', async () => {
    const host = recording()
    expect(await host.run.requestApproval(host.sallyport.approvals, { ...ASK, waitMs: 0 })).toMatchObject({
      status: 'open',
    })
    expect((await host.state())[0]).toBe('running')
    await host.answer(ADA, 'decline')
    expect(await host.run.requestApproval(host.sallyport.approvals, ASK)).toMatchObject({ status: 'declined' })
    await host.recorder.close()
  })

  it('A time-out is told as what it is', async () => {
    const host = recording()
    const asking = host.run.requestApproval(host.sallyport.approvals, { ...ASK, expiresInMs: HOUR_MS })
    await isAsked(host)
    const timers = host.clock.timers
    while (host.clock.timers < timers) await new Promise(setImmediate)
    host.clock.advance(HOUR_MS)
    expect(await asking).toMatchObject({ status: 'expired' })
    await host.recorder.close()
  })

  it('An error of the wait leaves the run running, and is thrown; a refused question too', async () => {
    const host = recording()
    const failing = { ...host.approvals, wait: () => Promise.reject(new Error('down')) }
    await expect(host.run.requestApproval(failing, ASK)).rejects.toThrow('down')
    expect((await host.state())[0]).toBe('running')
    const refused = host.run.requestApproval(host.approvals, { ...ASK, eventType: 'unknown' })
    await expect(refused).rejects.toMatchObject({ code: 'validation_failed' })
    expect((await host.state())[0]).toBe('running')
    await host.recorder.close()
  })
})

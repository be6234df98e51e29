import { describe, expect, it } from 'vitest'
import type { JobState } from './peer.ts'
import { isFinished, judge, type PeerRecords } from './peer-verdict.ts'

const CUT_AT = 10_000

/** Records of jobs that are all accepted at the same time. */
function records(
  jobs: Readonly<Record<string, { readonly state?: JobState; readonly arrivesAt?: number[] }>>,
): PeerRecords {
  const post = { host: 'host-1', order: 'order', attempt: 0, fence: '' }
  const ids = Object.keys(jobs)
  return {
    accepted: ids.map((id) => ({ order: id, dispatchId: id, deliveryId: id, port: 1, postedAt: 8_000, at: 9_000 })),
    arrivals: ids.flatMap((id) => (jobs[id]?.arrivesAt ?? []).map((at) => ({ ...post, deliveryId: id, at }))),
    cut: [],
    killedAt: new Map([['host-1', CUT_AT]]),
    states: new Map(ids.flatMap((id) => (jobs[id]?.state ? [[id, jobs[id].state] as const] : []))),
  }
}

describe('the verdict about a queue', () => {
  it('An undelivered job is lost only if the store has it neither to be run nor as failed', () => {
    const counts = judge(
      records({ gone: {}, done: { state: 'done' }, refused: { state: 'failed' }, stuck: { state: 'active' } }),
    )
    expect(counts).toMatchObject({ accepted: 4, delivered: 0, lost: 2, failed: 1, late: 1 })
  })

  it('Repeated arrivals and delivered jobs that are to be run again are counted', () => {
    const counts = judge(
      records({ twice: { arrivesAt: [9_500, 12_000] }, again: { state: 'active', arrivesAt: [9_500] } }),
    )
    expect(counts).toMatchObject({ delivered: 2, lost: 0, late: 0, twice: 1, again: 1 })
  })

  it('Recovery begins at the kill, and only for jobs that had not arrived before it', () => {
    expect(judge(records({ before: { arrivesAt: [9_900, 50_000] }, after: { arrivesAt: [13_000] } })).recoveryMs).toBe(
      3_000,
    )
    expect(judge(records({ before: { arrivesAt: [9_900] } })).recoveryMs).toBe(0)
  })

  it('Recovery begins at the kill that cut the send', () => {
    const later = records({ job: { arrivesAt: [43_000] } })
    const killedAt = new Map([...later.killedAt, ['host-2', 20_000]])
    const cut = [
      { host: 'host-2', order: 'job', deliveryId: 'job', attempt: 0, fence: '', at: 20_001, isAccepted: false },
    ]
    expect(judge({ ...later, killedAt, cut })).toMatchObject({ cut: 1, recoveryMs: 23_000 })
  })

  it('Jobs that are to be run, and jobs without a trace, are waited for', () => {
    expect(isFinished(records({ sent: { arrivesAt: [9_500] }, refused: { state: 'failed' } }))).toBe(true)
    expect(isFinished(records({ sent: { state: 'active', arrivesAt: [9_500] } }))).toBe(false)
    expect(isFinished(records({ gone: {} }))).toBe(false)
  })
})

import { describe, expect, it } from 'vitest'
import { ADA, type ApprovalHost, approving, BOB, HOUR_MS, NAME, REFUND } from './approving.ts'

const OF = { sessionId: 's1', runId: 'r1' }

const post = async ({ ask }: ApprovalHost, run: object = {}): Promise<void> => {
  const body = { sessionId: 's1', run: { runId: 'r1', status: 'running', ...run } }
  expect((await ask('/api/agents/session/run', 'asker', body)).status).toBeLessThan(300)
}

describe('approvals of runs and sessions', () => {
  it('A run shows its approvals: all if it is read alone, the open ones in lists', async () => {
    const host = approving()
    const { sallyport, request, answer, clock } = host
    await post(host)
    await post(host, { runId: 'r2' })
    await request()
    clock.advance(1_000)
    await request({ approvalId: 'refund-2' })
    await answer(ADA, 'decline')
    const [first, second] = [
      {
        approvalId: 'refund-1',
        status: 'declined',
        eventType: 'refund.approval',
        expiresAt: '2027-01-22T12:00:00.000Z',
      },
      { approvalId: 'refund-2', status: 'open', eventType: 'refund.approval', expiresAt: '2027-01-22T12:00:01.000Z' },
    ]
    expect((await sallyport.runs.get(OF))?.approvals).toEqual([second, first])
    expect(await sallyport.runs.get({ ...OF, runId: 'r2' })).not.toHaveProperty('approvals')
    const { items } = await sallyport.runs.list({ first: 'oldest' })
    expect(items.map(({ approvals }) => approvals)).toEqual([[second], undefined])
  })

  it('A run shows the newest twenty', async () => {
    const host = approving()
    await post(host)
    for (let at = 0; at < 22; at++) {
      await host.request({ approvalId: `a${at}` })
      host.clock.advance(1)
    }
    const newest = Array.from({ length: 20 }, (_, at) => `a${21 - at}`)
    const idsOf = (approvals: readonly { readonly approvalId: string }[] = []) =>
      approvals.map(({ approvalId }) => approvalId)
    expect(idsOf((await host.sallyport.runs.get(OF))?.approvals)).toEqual(newest)
    expect(idsOf((await host.sallyport.runs.list()).items[0]?.approvals)).toEqual(newest)
  })

  it('The timeline of a session has its approvals, without message and action', async () => {
    const host = approving()
    await post(host)
    host.clock.advance(1)
    await host.request()
    await host.request({ sessionId: 's2' })
    const { items } = await host.sallyport.sessions.timeline('s1')
    expect(items.map(({ type }) => type)).toEqual(['run', 'dispatch', 'dispatch', 'approval'])
    expect(items[3]).toMatchObject({ at: '2027-01-15T12:00:00.001Z', approval: { ...NAME, status: 'open' } })
    expect(JSON.stringify(items[3])).not.toContain('900')
    expect((await host.sallyport.sessions.get('s1'))?.timeline).toMatchObject(items)
  })

  it('The stale sweep leaves a run alone while somebody is asked about it', async () => {
    const host = approving()
    const { sallyport, clock } = host
    await post(host)
    await post(host, { runId: 'r2' })
    await host.request()
    clock.advance(HOUR_MS)
    expect(await sallyport.runs.sweepStale({ olderThan: 60_000 })).toEqual({ expired: 1 })
    expect(await sallyport.runs.get(OF)).toMatchObject({ status: 'running' })
    await host.answer()
    expect(await sallyport.runs.sweepStale({ olderThan: 60_000 })).toEqual({ expired: 1 })
  })

  it('An erasure of a session keeps the decision and nothing of its content, and cancels what is open', async () => {
    const host = approving()
    const { sallyport, clock, request, answer, use, statuses } = host
    const choices = ['now', 'later']
    await request({ choices })
    await answer(ADA, 'accept', { content: { choice: 'now' }, comment: 'For Jane' })
    await request({ approvalId: 'refund-2' })
    await request({ sessionId: 's2' })
    const before = await sallyport.approvals.get(NAME)
    clock.advance(1_000)
    await sallyport.runs.erase({ sessionId: 's1' })
    await sallyport.runs.erase({ sessionId: 's1' })
    const { message, action, schema, answers, ...kept } = { ...before } as Required<NonNullable<typeof before>>
    expect([message, action, schema]).toEqual(['Refund 900 USD?', REFUND, expect.anything()])
    const found = await sallyport.approvals.get(NAME)
    expect(found).toEqual({
      ...kept,
      answers: answers.map(({ comment: _, content: __, ...answer }) => answer),
    })
    expect(found).toMatchObject({ status: 'accepted', answers: [{ user: ADA, answer: 'accept' }] })
    expect(await sallyport.approvals.get({ ...NAME, approvalId: 'refund-2' })).toMatchObject({
      status: 'cancelled',
      endedAt: '2027-01-15T12:00:01.000Z',
    })
    expect(await sallyport.approvals.get({ ...NAME, sessionId: 's2' })).toMatchObject({
      status: 'open',
      action: REFUND,
    })
    // Messages of refund-1 and refund-2 are cancelled; those of the other session are not.
    expect((await statuses()).filter((one) => one.startsWith(BOB)).sort()).toEqual([
      ...['cancelled', 'cancelled', 'queued'].map((status) => `${BOB} ${status}`),
    ])
    // What was accepted can still be done.
    expect(await use()).toEqual({ consumed: true, first: true })
  })

  it('The page of a link of an erased session shows how it ended', async () => {
    const { sallyport, request, a, get } = approving()
    await request()
    await sallyport.worker.runDue()
    const [, token = ''] = /approval\/(\S+)$/.exec(String(a.sent[0]?.content?.text)) ?? []
    await sallyport.runs.erase({ sessionId: 's1' })
    const page = await get(token)
    expect(page.status).toBe(200)
    const text = await page.text()
    expect(text).not.toMatch(/900|<form/)
  })
})

import { describe, expect, it, vi } from 'vitest'
import { ADA, approving, BOB, HOUR_MS, NAME, REFUND, refusal } from './approving.ts'

const AT = '2027-01-15T12:00:00.000Z'

describe('an answer', () => {
  it('The first answer decides, is recorded with who, how and when, and stops the messages that wait', async () => {
    const { request, answer, statuses } = approving()
    await request()
    expect(await answer(ADA, 'accept', { comment: 'Go on' })).toMatchObject({
      ...{ status: 'accepted', replayed: false, endedAt: AT },
      answers: [{ user: ADA, answer: 'accept', proof: 'application', answeredAt: AT, comment: 'Go on' }],
    })
    expect(await statuses()).toEqual([`${ADA} cancelled`, `${BOB} cancelled`])
  })

  it('A repetition is told that it holds; another answer is told which one holds', async () => {
    const { request, answer } = approving()
    await request()
    await answer(ADA, 'decline')
    expect(await answer(ADA, 'decline')).toMatchObject({ status: 'declined', replayed: true })
    for (const other of [() => answer(ADA, 'accept'), () => answer(BOB, 'decline')])
      await expect(other()).rejects.toMatchObject({
        ...{
          code: 'approval_answered',
          status: 409,
          message: expect.stringContaining(`${ADA} answered decline at ${AT}`),
        },
      })
  })

  it('Of concurrent answers exactly one decides', async () => {
    const { sallyport, request, answer } = approving()
    await request()
    const all = await Promise.allSettled([
      answer(ADA, 'accept'),
      answer(BOB, 'decline'),
      sallyport.approvals.cancel(NAME),
    ])
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const found = await sallyport.approvals.get(NAME)
    expect(found?.answers.length).toBeLessThanOrEqual(1)
  })

  it('Nobody but the approvers answers', async () => {
    const { request, answer } = approving()
    await request({ recipients: [ADA] })
    expect(await refusal(answer(BOB))).toBe('403 insufficient_scope')
    expect(await refusal(answer('host'))).toBe('403 insufficient_scope')
  })

  it('An answer about another action than the user saw is refused', async () => {
    const { request, answer } = approving()
    const { digest } = await request()
    expect(await refusal(answer(ADA, 'accept', { digest: 'f'.repeat(64) }))).toBe('409 approval_conflict')
    expect(await answer(ADA, 'accept', { digest })).toMatchObject({ status: 'accepted' })
  })

  it('An acceptance has the content that the schema asks for; a decline has none', async () => {
    const { request, answer } = approving()
    await request({ choices: ['full', 'half'] })
    expect(await refusal(answer())).toBe('422 validation_failed /content/choice required')
    expect(await refusal(answer(ADA, 'accept', { content: { choice: 'all' } }))).toMatch(
      /^422 validation_failed \/content\/choice/,
    )
    expect(await refusal(answer(ADA, 'decline', { content: { choice: 'full' } }))).toBe(
      '422 validation_failed /content not_allowed',
    )
    expect(await answer(ADA, 'accept', { content: { choice: 'half' } })).toMatchObject({
      answers: [{ content: { choice: 'half' } }],
    })
    expect(await answer(ADA, 'accept', { content: { choice: 'half' } })).toMatchObject({ replayed: true })
    expect(await refusal(answer(ADA, 'accept', { content: { choice: 'full' } }))).toBe('409 approval_answered')
  })

  it('Without a schema, content is refused', async () => {
    const { request, answer } = approving()
    await request()
    expect(await refusal(answer(ADA, 'accept', { content: {} }))).toBe('422 validation_failed /content not_allowed')
  })
})

describe('a quorum', () => {
  it('As many approvers as required must accept, each once', async () => {
    const { request, answer } = approving({ event: { required: 2 } })
    await request()
    expect(await answer(ADA)).toMatchObject({ status: 'open' })
    expect(await answer(ADA)).toMatchObject({ status: 'open', replayed: true })
    expect(await answer(BOB)).toMatchObject({ status: 'accepted', answers: [{ user: ADA }, { user: BOB }] })
  })

  it('The first decline ends it', async () => {
    const { request, answer } = approving({ event: { required: 2 } })
    await request()
    await answer(ADA)
    expect(await refusal(answer(ADA, 'decline'))).toBe('409 approval_answered')
    expect(await answer(BOB, 'decline')).toMatchObject({ status: 'declined' })
  })
})

describe('the end of the time', () => {
  it('It is an end of its own and no decline; later answers are refused', async () => {
    const { sallyport, request, answer, clock } = approving()
    await request({ expiresInMs: 60_000 })
    clock.advance(59_999)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
    clock.advance(1)
    expect(await refusal(answer())).toBe('410 approval_ended')
    expect(await sallyport.approvals.get(NAME)).toMatchObject({
      status: 'expired',
      endedAt: '2027-01-15T12:01:00.000Z',
    })
    expect(await refusal(sallyport.approvals.cancel(NAME))).toBe('410 approval_ended')
  })

  it('A worker expires what nobody reads', async () => {
    const { sallyport, request, clock } = approving()
    await request({ expiresInMs: 60_000 })
    clock.advance(60_000)
    expect((await sallyport.approvals.list({ status: 'open' })).items).toHaveLength(1)
    await sallyport.worker.runDue()
    expect((await sallyport.approvals.list({ status: 'open' })).items).toEqual([])
    expect((await sallyport.approvals.list({ status: 'ended' })).items).toMatchObject([{ status: 'expired' }])
  })
})

describe('lists of approvals', () => {
  it('They match all filters, newest first, and of one tenant', async () => {
    const { sallyport, request, answer, clock } = approving()
    const list = async (options: object) =>
      (await sallyport.approvals.list(options)).items.map(({ sessionId, approvalId }) => `${sessionId} ${approvalId}`)
    for (const more of [{}, { approvalId: 'b' }, { sessionId: 's2' }, { tenant: 'other' }]) {
      await request(more)
      clock.advance(1)
    }
    await answer()
    expect(await list({})).toEqual(['s2 refund-1', 's1 b', 's1 refund-1'])
    expect(await list({ sessionId: 's1' })).toEqual(['s1 b', 's1 refund-1'])
    expect(await list({ status: 'open' })).toEqual(['s2 refund-1', 's1 b'])
    expect(await list({ sessionId: 's1', status: 'open' })).toEqual(['s1 b'])
    expect(await list({ sessionId: 's1', status: 'ended' })).toEqual(['s1 refund-1'])
    expect(await list({ tenant: 'other', status: 'open' })).toEqual(['s1 refund-1'])
  })
})

describe('a cancellation', () => {
  it('The requester withdraws the question; a repetition changes nothing', async () => {
    const { sallyport, request, answer, statuses } = approving()
    await request()
    expect(await sallyport.approvals.cancel(NAME)).toMatchObject({ status: 'cancelled', replayed: false })
    expect(await sallyport.approvals.cancel(NAME)).toMatchObject({ status: 'cancelled', replayed: true })
    expect(await refusal(answer())).toBe('410 approval_ended')
    expect(await statuses()).toEqual([`${ADA} cancelled`, `${BOB} cancelled`])
  })

  it('What was answered is not withdrawn', async () => {
    const { sallyport, request, answer } = approving()
    await request()
    await answer()
    expect(await refusal(sallyport.approvals.cancel(NAME))).toBe('409 approval_answered')
  })
})

describe('the use of an accepted action', () => {
  it('It goes to one use, and to the same one again after a crash', async () => {
    const { sallyport, request, answer, use } = approving()
    await request()
    await answer()
    expect(await use()).toEqual({ consumed: true, first: true })
    expect(await use()).toEqual({ consumed: true, first: false })
    expect(await refusal(use('u2'))).toBe('409 approval_consumed')
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ consumed: { useId: 'u1', consumedAt: AT } })
  })

  it('It reports no end again, and cancels nothing', async () => {
    const answered = vi.fn(() => undefined)
    const { sallyport, request, answer, use } = approving({ options: { answered } })
    await request()
    await answer()
    await sallyport.worker.runDue()
    await use()
    await sallyport.worker.runDue()
    expect(answered).toHaveBeenCalledTimes(1)
  })

  it('Of concurrent uses exactly one gets it', async () => {
    const { request, answer, use } = approving()
    await request()
    await answer()
    const all = await Promise.allSettled(Array.from({ length: 10 }, (_, at) => use(`u${at}`)))
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('It never releases another action', async () => {
    const { request, answer, use } = approving()
    await request()
    await answer()
    for (const other of [
      { ...REFUND, args: { ...REFUND.args, amount: 9_000 } },
      { ...REFUND, name: 'delete' },
      { ...REFUND, args: { ...REFUND.args, note: '' } },
    ])
      expect(await refusal(use('u1', other))).toBe('409 approval_conflict')
    expect(await refusal(use('u1', null))).toBe('409 approval_conflict')
    expect(await use()).toMatchObject({ first: true })
  })

  it('With the event that must have asked, an approval of another one is refused', async () => {
    const { sallyport, request, answer } = approving()
    await request()
    await answer()
    const use = { ...NAME, action: REFUND, useId: 'u1' }
    expect(await refusal(sallyport.approvals.consume({ ...use, eventType: 'plain.approval' }))).toBe(
      '409 approval_conflict',
    )
    expect(await sallyport.approvals.consume({ ...use, eventType: 'refund.approval' })).toMatchObject({ first: true })
  })

  it('Nothing but an acceptance releases it', async () => {
    const { sallyport, request, answer, use, clock } = approving()
    await request()
    expect(await refusal(use())).toBe('409 approval_not_accepted')
    await answer(ADA, 'decline')
    expect(await refusal(use())).toBe('409 approval_not_accepted')
    const other = { ...NAME, approvalId: 'late' }
    await request({ ...other, expiresInMs: 60_000 })
    clock.advance(60_000)
    expect(await refusal(sallyport.approvals.consume({ ...other, action: REFUND, useId: 'u1' }))).toBe(
      '409 approval_not_accepted',
    )
  })

  it('It is used first within an hour, or the time of the event; the same use gets it later too', async () => {
    for (const [event, validForMs] of [
      [{}, HOUR_MS],
      [{ validForMs: 60_000 }, 60_000],
    ] as const) {
      const { request, answer, use, clock } = approving({ event })
      await request()
      await request({ approvalId: 'other' })
      await answer()
      clock.advance(validForMs - 1)
      expect(await use()).toMatchObject({ first: true })
      clock.advance(1)
      expect(await use()).toMatchObject({ first: false })
      const late = approving({ event })
      await late.request()
      await late.answer()
      late.clock.advance(validForMs)
      expect(await refusal(late.use())).toBe('410 approval_ended')
    }
  })
})

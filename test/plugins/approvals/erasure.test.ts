import { describe, expect, it } from 'vitest'
import { ADA, approving, BOB, NAME, refusal } from './approving.ts'

describe('the data of an approver', () => {
  it('An export shows what they were asked, and their own answers', async () => {
    const { sallyport, request, answer } = approving({ event: { required: 2 } })
    await request()
    await answer(ADA, 'accept', { comment: 'Fine by me' })
    await answer(BOB, 'accept', { comment: 'Mine too' })
    const page = await sallyport.dispatches.export({ recipient: ADA })
    expect(page.plugins).toMatchObject({
      approvals: {
        approvals: [{ approvalId: 'refund-1', status: 'accepted', answer: { user: ADA, comment: 'Fine by me' } }],
      },
    })
    expect(JSON.stringify(page)).not.toContain(BOB)
  })

  it('An erasure removes the name from answers and ends the links; the decision stands', async () => {
    const { sallyport, request, answer, a, get } = approving()
    await request()
    await sallyport.worker.runDue()
    await answer(ADA, 'accept', { comment: 'Ada says yes' })
    const [{ content: { text = '' } = {} } = {}] = a.sent.filter(({ to }) => to === ADA)
    const [, token = ''] = /approval\/(\S+)$/.exec(String(text)) ?? []
    expect((await get(token)).status).toBe(200)
    await sallyport.dispatches.erase({ recipient: ADA })
    const found = await sallyport.approvals.get(NAME)
    expect(found).toMatchObject({
      status: 'accepted',
      answers: [{ user: 'erased', answer: 'accept' }],
      approvers: [BOB],
    })
    expect(JSON.stringify(found)).not.toMatch(/ada/i)
    expect((await get(token)).status).toBe(404)
    expect((await sallyport.dispatches.export({ recipient: ADA })).plugins).toBeUndefined()
  })

  it('An open approval goes on if enough others may answer, and is cancelled otherwise', async () => {
    const { sallyport, request, answer } = approving()
    await request()
    await request({ approvalId: 'alone', recipients: [ADA] })
    await sallyport.dispatches.erase({ recipient: ADA })
    expect(await sallyport.approvals.get({ ...NAME, approvalId: 'alone' })).toMatchObject({
      status: 'cancelled',
      approvers: [],
    })
    for (const user of [ADA, 'erased']) expect(await refusal(answer(user))).toBe('403 insufficient_scope')
    expect(await answer(BOB)).toMatchObject({ status: 'accepted' })
  })
})

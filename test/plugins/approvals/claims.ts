import { expect } from 'vitest'
import { toFetch } from '../../../src/adapters/fetch.ts'
import { createConsole } from '../../../src/console/index.ts'
import type { Proof } from '../../docs/comparing.ts'
import { ADA, approving, BOB, HOUR_MS, NAME, REFUND, refusal } from './approving.ts'

/** Statements about approvals in the tables of the comparison, `row: cell`. */
export const APPROVALS_CLAIMS: Readonly<Record<string, Proof>> = {
  'asks by: its channels': async () => {
    const { sallyport, request, a } = approving()
    await request()
    await sallyport.worker.runDue()
    expect(a.sent.map(({ to }) => to).sort()).toEqual([ADA, BOB])
  },
  'answered on: page, console, API': async () => {
    const { sallyport, request, a, post, answer } = approving()
    await request()
    await sallyport.worker.runDue()
    const text = String(a.sent.find(({ to }) => to === ADA)?.content.text)
    await post(text.slice(text.lastIndexOf('/') + 1), { answer: 'accept' })
    await request({ approvalId: 'refund-2' })
    await answer(ADA, 'accept', { approvalId: 'refund-2' })
    await request({ approvalId: 'refund-3' })
    const access = { access: 'operate', user: ADA } as const
    const headers = { 'content-type': 'application/json', 'x-sallyport-console': '1', 'sec-fetch-site': 'same-origin' }
    const body = JSON.stringify({ sessionId: 's1', answer: 'accept' })
    const url = 'http://127.0.0.1/api/agents/session/approval/refund-3/answer'
    const page = toFetch(createConsole(sallyport, { access: () => access }))
    await page(new Request(url, { method: 'POST', headers, body }))
    const { items } = await sallyport.approvals.list({ status: 'ended' })
    expect(items.flatMap(({ answers }) => answers.map(({ proof }) => proof)).sort()).toEqual([
      'application',
      'console',
      'link',
    ])
  },
  'waits in: your database': async () => {
    const { sallyport, request } = approving()
    await request()
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'open' })
  },
  'no answer: `expired`': async () => {
    const { sallyport, request, clock } = approving()
    await request({ expiresInMs: HOUR_MS })
    clock.advance(HOUR_MS)
    expect(await sallyport.approvals.get(NAME)).toMatchObject({ status: 'expired', answers: [] })
  },
  'second answer: refused': async () => {
    const { request, answer } = approving()
    await request()
    await answer(ADA)
    expect(await refusal(answer(BOB, 'decline'))).toBe('409 approval_answered')
  },
  'another action: refused': async () => {
    const { request, answer, use } = approving()
    await request()
    await answer()
    const other = { ...REFUND, args: { ...REFUND.args, amount: 9_000 } }
    expect(await refusal(use('u1', other))).toBe('409 approval_conflict')
  },
  'who answered: recorded': async () => {
    const { request, answer } = approving()
    await request()
    expect(await answer(BOB)).toMatchObject({ answers: [{ user: BOB, proof: 'application' }] })
  },
  'taken: once': async () => {
    const { request, answer, use } = approving()
    await request()
    await answer()
    expect(await use('u1')).toMatchObject({ consumed: true })
    await expect(use('u2')).rejects.toMatchObject({ status: 409 })
  },
}

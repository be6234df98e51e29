import { expect, it } from 'vitest'
import { approvalKey, runHash, shortHash } from '../../../../src/plugins/approvals/approval-records.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { fakeClock } from '../../../support/fake-clock.ts'
import { ADA, approving, BOB, REFUND } from '../approving.ts'

const NOON = Date.UTC(2027, 0, 15, 12)
const DAY_MS = 86_400_000

it('The records of approvals have the form in which earlier versions stored them', async () => {
  const clock = fakeClock(NOON)
  const store = memoryStore({ clock })
  const { request, answer, use } = approving({ clock, store, options: { answered: () => undefined } })
  await request({ expiresInMs: DAY_MS })
  const key = await approvalKey('default', 's1', 'refund-1')
  const find = async (kind: string, tenant: string, text: string) =>
    (await store.findRecords({ kind, by: 'key', texts: [{ tenant, text }] })).map(({ version: _, ...record }) => ({
      ...record,
    }))
  const session = await shortHash('s1')
  const run = await runHash({ sessionId: 's1', runId: 'r1' })
  const approval = {
    ...{
      approvalId: 'refund-1',
      sessionId: 's1',
      session,
      runId: 'r1',
      run,
      eventType: 'refund.approval',
      requester: 'host',
    },
    ...{ message: 'Refund 900 USD?', action: REFUND, approvers: [ADA, BOB], required: 1, prompts: ['dsp_1', 'dsp_3'] },
    ...{ createdAt: NOON, expiresAt: NOON + DAY_MS, answers: [] },
  }
  const sorts = [`open-000${NOON}`, `${session}-000${NOON}`, `${run}-000${NOON}`, run]
  const [open] = await find('approvals.approvals', 'default', key)
  expect(open).toEqual({
    ...{ kind: 'approvals.approvals', tenant: 'default', key, sort: expect.anything() },
    body: { ...approval, digest: expect.stringMatching(/^[\da-f]{64}$/) },
  })
  expect(open?.sort).toEqual(sorts)
  expect(await find('approvals.prompts', 'default', 'dsp_1')).toMatchObject([
    {
      ...{ sort: [await shortHash(ADA), null, null, null], expiresAt: NOON + DAY_MS },
      body: { approval: key, user: ADA, userKey: await shortHash(ADA), expiresAt: NOON + DAY_MS },
    },
  ])
  expect(await find('approvals.tasks', '', `${key}.expire.${NOON}`)).toMatchObject([
    {
      ...{ sort: [`000${NOON + DAY_MS}`, null, null, null] },
      body: { tenant: 'default', approval: key, task: 'expire', at: NOON + DAY_MS },
    },
  ])
  await answer(ADA, 'accept', { comment: 'Fine' })
  await use()
  expect(await find('approvals.tasks', '', `${key}.report.${NOON}`)).toMatchObject([
    { body: { tenant: 'default', approval: key, task: 'report', at: NOON } },
  ])
  const [ended] = await find('approvals.approvals', 'default', key)
  expect(ended).toMatchObject({
    ...{ expiresAt: NOON },
    body: {
      answers: [{ user: ADA, answer: 'accept', proof: 'application', at: NOON, comment: 'Fine' }],
      end: { status: 'accepted', at: NOON },
      consumed: { useId: 'u1', at: NOON },
    },
  })
  expect(ended?.sort).toEqual([`done-000${NOON}`, ...sorts.slice(1, 3), null])
})

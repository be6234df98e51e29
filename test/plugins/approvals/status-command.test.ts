import { expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { APPROVALS_COMMANDS } from '../../../src/plugins/approvals/commands.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { testAuth } from '../../support/deps.ts'
import { ADA, approving, NAME } from './approving.ts'

it('The command status shows the open approvals of a tenant, and nothing in a host without them', async () => {
  const { sallyport, request } = approving()
  await request()
  await request({ approvalId: 'refund-2' })
  await request({ tenant: 'acme' })
  await sallyport.approvals.answer({ ...NAME, user: ADA, answer: 'accept' })
  const read = APPROVALS_COMMANDS.status?.read
  for (const of of [{}, { tenant: 'acme' }])
    expect(await read?.(sallyport, of)).toEqual({
      members: { openApprovals: { count: 1, isMore: false } },
      rows: [{ status: 'open approvals', count: 1 }],
    })
  const without = createSallyport({ auth: testAuth, store: memoryStore() })
  expect(await read?.(without, {})).toBeUndefined()
})

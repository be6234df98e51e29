/** An agent in its own process: `waiting-agent.ts <url of its host>` waits for the end of an approval, and prints how it ended. */
import { createApprovalClient } from '../../../../src/client/approvals.ts'

const [, , baseUrl = ''] = process.argv
const { status } = await createApprovalClient({ baseUrl, token: 'asker' }).wait({
  ...{ sessionId: 's1', approvalId: 'refund-1' },
})
process.stdout.write(`ended ${status}\n`)

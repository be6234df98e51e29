import { interrupt } from '@langchain/langgraph'
import { type InputRequiredResult, inputRequired } from '@modelcontextprotocol/server'
import { createApprovalClient } from '../../src/client/approvals.ts'
import {
  type AgentAnswerOptions,
  type AgentApprovalOptions,
  agUiApprovals,
  aiSdkApprovals,
  type LangGraphApprovalOptions,
  langGraphApprovals,
  type McpApprovalOptions,
  mcpApprovals,
  openAiAgentsApprovals,
} from '../../src/integrations/approvals/index.ts'
import { FLAG, FUNCTION, HOLE, OBJECT, outside, PART, WORD } from '../options/option-rows.ts'
import { testArguments, testOptions } from '../options/option-tests.ts'

const approvals = createApprovalClient({ baseUrl: 'http://shop.test', token: 'app' })
const GOOD: AgentApprovalOptions = { sessionId: 's1', runId: 'r1', eventType: 'refund.approval' }
const MONTH_MS = 30 * 86_400_000

const BAD = {
  ...{ sessionId: WORD, runId: WORD, tenant: WORD, eventType: WORD, message: FUNCTION, once: FLAG, signal: PART },
  ...{ recipients: ['ada', {}, [''], [7], HOLE], expiresInMs: outside(60_000, MONTH_MS), waitMs: outside(0, MONTH_MS) },
}
const BAD_WITH_SCHEMA = { ...BAD, schema: OBJECT }
const NO_METHODS = [undefined, GOOD]
const TOO_FEW = [{ request() {}, wait() {} }, GOOD]

testArguments('sallyport/integrations/approvals aiSdkApprovals', aiSdkApprovals, [NO_METHODS, TOO_FEW, [approvals]])
testArguments('sallyport/integrations/approvals openAiAgentsApprovals', openAiAgentsApprovals, [
  ...[NO_METHODS, TOO_FEW, [approvals]],
  [approvals, { ...GOOD, runId: '' }],
  [approvals, { ...GOOD, schema: {} }],
])
testArguments('sallyport/integrations/approvals langGraphApprovals', langGraphApprovals, [
  NO_METHODS,
  [approvals, GOOD],
])
testArguments('sallyport/integrations/approvals mcpApprovals', mcpApprovals, [NO_METHODS, [approvals, GOOD]])
testArguments('sallyport/integrations/approvals agUiApprovals', agUiApprovals, [NO_METHODS, [approvals, {}]])

testOptions(
  'sallyport/integrations/approvals aiSdkApprovals',
  'AgentApprovalOptions',
  (options: AgentApprovalOptions) => aiSdkApprovals(approvals, options),
  GOOD,
  BAD,
)

testOptions(
  'sallyport/integrations/approvals agUiApprovals',
  'AgentAnswerOptions',
  (options: AgentAnswerOptions) => agUiApprovals(approvals, options),
  GOOD,
  BAD_WITH_SCHEMA,
)

testOptions(
  'sallyport/integrations/approvals langGraphApprovals',
  'LangGraphApprovalOptions',
  (options: LangGraphApprovalOptions) => langGraphApprovals(approvals, options),
  { ...GOOD, interrupt },
  { ...BAD_WITH_SCHEMA, interrupt: [undefined, ...FUNCTION] },
)

testOptions(
  'sallyport/integrations/approvals mcpApprovals',
  'McpApprovalOptions',
  (options: McpApprovalOptions<InputRequiredResult>) => mcpApprovals(approvals, options),
  { ...GOOD, inputRequired },
  { ...BAD_WITH_SCHEMA, inputRequired: [undefined, ...FUNCTION], page: FUNCTION, mint: FUNCTION },
)

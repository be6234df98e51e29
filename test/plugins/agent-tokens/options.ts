import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { AGE, full, PAGE, TENANT } from '../../options/host-rows.ts'
import { type PluginOptionRows, row, UNSTORABLE } from '../../options/option-rows.ts'

const sallyport = createSallyport({ ...full, plugins: [agentTokens()] })

export const agentTokensOptions: PluginOptionRows = {
  rows: [
    row(
      'sallyport tokens.uses',
      'TokenUseListOptions',
      (options: object) => sallyport.tokens.uses(options),
      {},
      { ...PAGE, tenant: TENANT, sessionId: UNSTORABLE, jti: UNSTORABLE, outcome: ['nope', 7] },
    ),
    row(
      'sallyport tokens.prune',
      'TokenUsePruneOptions',
      (options: { olderThan: number }) => sallyport.tokens.prune(options),
      { olderThan: 1 },
      { olderThan: AGE, tenant: TENANT },
    ),
  ],
  withoutOptions: { 'sallyport/plugins agentTokens': 'takes nothing' },
}

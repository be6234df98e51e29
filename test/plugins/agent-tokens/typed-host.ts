// Uses the types of the plugin as a host does. Only compiled, against the installed package too.
import { createSallyport } from 'sallyport'
import { agentTokens } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'

const auth = { verify: async () => ({ id: 'app', tenant: 'default' }) }
const sallyport = createSallyport({ auth, store: memoryStore(), plugins: [agentTokens()] })
export const refused: readonly string[] = (await sallyport.tokens.uses({ outcome: 'refused' })).items.map(
  ({ jti }) => jti,
)
await sallyport.tokens.revoke({ sessionId: 's' })

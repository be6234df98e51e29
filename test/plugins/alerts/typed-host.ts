// Uses the types of the plugin as a host does. Only compiled, against the installed package too.
import { createSallyport, defineEvents } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { alerts, type BudgetQuestion } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'

const sallyport = createSallyport({
  auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
  store: memoryStore(),
  events: defineEvents({ 'run.failed': { channels: { log: { text: () => 'A run failed' } } } }),
  channels: { log: log() },
  plugins: [alerts({ runEvents: { 'run.failed': ({ run }) => ({ recipient: run.userId ?? 'ops' }) } })],
})
const asked: BudgetQuestion = { userId: undefined, sessionId: 's' }
export const mayBegin: boolean = (await sallyport.budgets.check(asked)).allowed

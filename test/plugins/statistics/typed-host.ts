// Uses the types of the plugin as a host does. Only compiled, against the installed package too.
import { createSallyport } from 'sallyport'
import { statistics } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'

const auth = { verify: async () => ({ id: 'app', tenant: 'default' }) }
const sallyport = createSallyport({ auth, store: memoryStore(), plugins: [statistics()] })
export const alive: number = (await sallyport.stats({ windowMs: 60_000 })).workersAlive

import { join } from 'node:path'
import { entriesLoad } from './checks/entries.ts'
import { memoryContracts, sqliteContracts, startedWorker, withoutHttp } from './checks/inside.ts'
import { refusedWebhook } from './checks/webhook.ts'
import { wire } from './checks/wire.ts'
import { visitPage } from './page.ts'
import { bunPackage } from './platform.ts'
import { startServer } from './program.ts'
import { fetchPackage } from './registry.ts'
import type { Runtime } from './runtime.ts'

const VERSION = '1.4.5'

export const onBun: Runtime = {
  name: 'Bun',
  async open(site) {
    const { project, cache, secrets, names } = site
    const program = join(await fetchPackage(cache, bunPackage(), VERSION), 'bin/bun')
    const server = await startServer([program, '--no-install', 'bun.mjs'], secrets, { cwd: project })
    const page = await visitPage('Bun', `Bun ${VERSION}`, [program, '--no-install'], site)
    const origin = `http://127.0.0.1:${server.ports.toFetch}`
    const inside = [withoutHttp, startedWorker, memoryContracts, sqliteContracts, refusedWebhook('Bun')]
    return {
      visits: [
        {
          target: { name: `Bun ${VERSION}`, origin, secrets, waitsUntil: false },
          groups: [entriesLoad(names), ...wire, ...inside],
        },
        page,
      ],
      errors: server.errors,
      close: async () => void (await Promise.all([server.close(), page.close()])),
    }
  },
}

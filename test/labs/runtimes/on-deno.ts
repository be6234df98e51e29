import { join } from 'node:path'
import { entriesLoad } from './checks/entries.ts'
import { memoryContracts, sqliteContracts, startedWorker, withoutHttp } from './checks/inside.ts'
import { refusedWebhook } from './checks/webhook.ts'
import { wire } from './checks/wire.ts'
import { visitPage } from './page.ts'
import { denoPackage } from './platform.ts'
import { startServer } from './program.ts'
import { fetchPackage } from './registry.ts'
import type { Runtime } from './runtime.ts'

const VERSION = '2.9.5'

export const onDeno: Runtime = {
  name: 'Deno',
  async open(site) {
    const { project, cache, secrets, names } = site
    const program = join(await fetchPackage(cache, denoPackage(), VERSION), 'deno')
    const run = [program, 'run', '--no-remote', '--no-lock', '--no-prompt', '--allow-env', '--allow-read=.'] as const
    const env = { DENO_DIR: join(cache, 'deno-cache'), DENO_NO_UPDATE_CHECK: '1' }
    const server = await startServer([...run, '--allow-net=127.0.0.1', 'deno.mjs'], secrets, { cwd: project, env })
    const page = await visitPage('Deno', `Deno ${VERSION}`, [...run, '--allow-net'], site, env)
    const origin = `http://127.0.0.1:${server.ports.toFetch}`
    const inside = [withoutHttp, startedWorker, memoryContracts, sqliteContracts, refusedWebhook('Deno')]
    return {
      visits: [
        {
          target: { name: `Deno ${VERSION}`, origin, secrets, waitsUntil: false },
          groups: [entriesLoad(names), ...wire, ...inside],
        },
        page,
      ],
      errors: server.errors,
      close: async () => void (await Promise.all([server.close(), page.close()])),
    }
  },
}

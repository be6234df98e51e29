import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { type FatalServer, fatalServer } from '../queues/fatal-server.ts'
import { documented } from '../support/documented.ts'
import { type RecipeProject, recipeProject } from '../support/recipe-project.ts'

const { secret } = await generateAppSecret({ env: 'test' })

/** The worker of the guide, except that it continues without a database. */
const WORKER = documented('docs/operating.md', '// worker.js').replace(
  'await storage.open()',
  "await storage.open().catch((error) => console.log('not opened:', error.code))",
)

describe('a PostgreSQL server that ends each connection as soon as it is ready', () => {
  let project: RecipeProject
  let server: FatalServer
  beforeAll(async () => {
    server = await fatalServer()
    project = await recipeProject()
    await project.write('storage.js', documented('docs/operating.md', 'postgresQueue({'))
    await project.write('outbound.js', documented('docs/operating.md', '// outbound.ts'))
    await project.write('worker.js', WORKER)
  }, 120_000)
  afterAll(async () => {
    await project.remove()
    await server.close()
  })

  it('The worker of the guide reconnects after fatal connections, and exits with 0', async () => {
    const worker = project.start('worker.js', { APP_SECRET: secret, DATABASE_URL: server.url })
    await worker.line('not opened: no_answer')
    await worker.line('queue.unavailable')
    await worker.line('worker.claim_failed')
    await Promise.race([server.ended(10), worker.ended])
    worker.signal('SIGTERM')
    expect(await worker.ended).toBe(0)
  })
})

/**
 * Host with session tokens over a database: `token-host.ts <sqlite file or postgres URL> <epoch milliseconds>`. It prints
 * `port <number>`. `POST /revoke` revokes what its body names. Only `POST /advance` moves its clock, by `ms`.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { toNode } from '../../../src/adapters/node.ts'
import { sessionTokens } from '../../../src/auth/session-tokens.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { agentTokens } from '../../../src/plugins/agent-tokens/agent-tokens.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { HostClock } from '../../support/host-clock.ts'
import { keptStatements } from '../../support/kept-statements.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { AUDIENCE, KEY } from './exchanging.ts'

const [, , place = '', start = ''] = process.argv
const isPostgres = place.startsWith('postgres:')
const dialect = isPostgres
  ? new PostgresDialect({ pool: new pg.Pool({ connectionString: place }) })
  : new SqliteDialect({ database: keptStatements(new Database(place)) })
const store = sqlStore({
  db: new Kysely<unknown>({ dialect }),
  dialect: isPostgres ? 'postgresql' : 'sqlite',
  timeoutMs: UNHURRIED_MS,
})
await store.migrate()
const clock = new HostClock()
clock.advance(Number(start))
const auth = sessionTokens({ keys: [KEY], audience: AUDIENCE, clock })
const sallyport = createSallyport({ auth, store, clock, plugins: [agentTokens()] })
const handle = toNode(sallyport)
const server = createServer(async (req, res) => {
  if (req.url === '/revoke') await sallyport.tokens.revoke((await json(req)) as { jti: string })
  else if (req.url === '/advance') clock.advance(((await json(req)) as { ms: number }).ms)
  else return handle(req, res)
  res.end('{}')
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`))

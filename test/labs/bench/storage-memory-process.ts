/** A worker in its own process: `storage-memory-process.ts <url> <count>` delivers this many and prints its memory. */
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { sqlStore } from 'sallyport/storage/sql'
import { hostOn } from './storage-worker.ts'

const [url, count] = [process.argv[2] ?? '', Number(process.argv[3])]
const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url }) }) })
const { worker, sent } = await hostOn(sqlStore({ db: kysely, dialect: 'postgresql' }), undefined, 100)

const resident = (): number => Math.round(process.memoryUsage.rss() / 2 ** 20)
const before = resident()
let most = before
const timer = setInterval(() => {
  most = Math.max(most, resident())
}, 100)

const since = performance.now()
const all = sent(count)
worker.start()
await all
await worker.stop()
clearInterval(timer)
process.send?.({ before, most, last: resident(), seconds: (performance.now() - since) / 1000 })
await kysely.destroy()

import { afterAll, describe, expect, it } from 'vitest'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { openPostgresql, openSqlite } from '../../storage/databases.ts'
import { call } from '../../support/host-call.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { DISPATCH, floodedHost, RUN } from './flooded-host.ts'
import { SERVERS } from './servers.ts'

const EVENT = JSON.stringify({ eventType: 'closed', recipient: 'jane@example.com' })
const authorization = 'Bearer shop.app'

describe('a query string', () => {
  it.each(Object.keys(SERVERS))('A query that resembles a dry run is refused and sends nothing on %s', async (name) => {
    const { url, sallyport } = await floodedHost(SERVERS[name])
    for (const query of [
      ...['dryRun[]=true', 'dryRun%5B%5D=true', 'dryRun[0]=true', 'dryRun.x=true', 'DryRun=true', 'dry_run=true'],
      ...['dryRun=1', 'dryRun=', 'dryRun', 'dryRun=true&dryRun=true', 'dryRun=true&dryRun[]=true', 'preview=true'],
    ]) {
      const { json } = await call(`${url}${DISPATCH}?${query}`, { body: EVENT, headers: { authorization } })
      expect(json, query).toMatchObject({
        status: 422,
        code: 'query_invalid',
        errors: [{ pointer: expect.any(String) }],
      })
    }
    const items = async () => (await sallyport.dispatches.list({ tenant: 'shop' } as never)).items
    expect(await items()).toEqual([])
    const dry = await call(`${url}${DISPATCH}?dryRun=true`, { body: EVENT, headers: { authorization } })
    expect([dry.status, await items()]).toEqual([200, []])
  })

  it('A dry run of a run or a batch is refused', async () => {
    const { url } = await floodedHost()
    const post = { sessionId: 's1', run: { runId: 'r1' } }
    for (const [path, body] of [[RUN, post] as const, [`${RUN}/batch`, { runs: [post] }] as const]) {
      const sent = { body: JSON.stringify(body), headers: { authorization } }
      const { json } = await call(`${url}${path}?dryRun=true`, sent)
      expect(json).toMatchObject({
        status: 422,
        code: 'query_invalid',
        errors: [{ pointer: '', code: 'not_allowed', detail: 'no query parameter is known here' }],
      })
      expect((await call(url + path, sent)).json).toMatchObject(
        path === RUN ? { created: true } : { results: [{ status: 200 }] },
      )
    }
  })
})

describe('a spent token', () => {
  for (const [name, open] of [['SQLite', openSqlite] as const, ['PostgreSQL', openPostgresql] as const]) {
    const database = open()
    afterAll(async () => (await database).close())

    it(`A spent token gets 403 alone at 200 concurrent requests on ${name}`, async () => {
      const { connect, dialect } = await database
      const store = sqlStore({ db: connect(), dialect, timeoutMs: UNHURRIED_MS })
      await store.migrate()
      const dispatch = { events: ['closed'], channels: ['email'], recipients: ['jane@example.com'], maxDispatches: 3 }
      const verify = async () => ({ id: 'token', tenant: 'shop', sessionId: 's1', dispatch })
      const { url } = await floodedHost(undefined, { store, auth: { verify } })
      let keys = 0
      const burst = async () => {
        const sent = Array.from({ length: 200 }, () =>
          call(url + DISPATCH, { body: EVENT, headers: { 'idempotency-key': `key-${keys++}` } }),
        )
        const counts: Record<number, number> = {}
        for (const { status } of await Promise.all(sent)) counts[status] = (counts[status] ?? 0) + 1
        return counts
      }
      expect(await burst()).toEqual({ 202: 3, 403: 197 })
      expect(await burst()).toEqual({ 403: 200 })
    })
  }
})

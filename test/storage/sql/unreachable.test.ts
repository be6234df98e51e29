import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { handleDispatchWithDefaults } from '../../../src/compose/defaults.ts'
import { isSallyportError } from '../../../src/errors.ts'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { ORDER } from '../../core/dispatch/dispatching.ts'
import { APP, testDeps } from '../../support/deps.ts'
import { freePort } from '../../support/free-port.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { fakeDatabase } from './migrating-stores.ts'

const CLAIM = { limits: { a: 1 }, leaseMs: 1_000, busy: [] }

/** A store whose driver fails each statement with this code. */
function failing(code: string) {
  const { db } = fakeDatabase(() => {
    throw Object.assign(new Error('jane:hunter2@db'), { code })
  })
  return sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
}

describe('a store whose database cannot be used', () => {
  it.each([
    [
      'ECONNREFUSED',
      'The database cannot be used: its driver says ECONNREFUSED. Check that it runs, and how it is reached.',
    ],
    [
      '3D000',
      'The server has no database of this name. Check the name that its driver was given, or create the database.',
    ],
    [
      'ER_BAD_DB_ERROR',
      'The server has no database of this name. Check the name that its driver was given, or create the database.',
    ],
    [
      '28P01',
      'The database refuses the user or the password. Check both that its driver was given, and from where the user may connect.',
    ],
    [
      'ER_ACCESS_DENIED_ERROR',
      'The database refuses the user or the password. Check both that its driver was given, and from where the user may connect.',
    ],
    [
      '53300',
      'The database has no connection left. Make the pools of its clients smaller, or allow it more connections.',
    ],
    [
      '42601',
      'The database does not understand a statement of the store. Check the dialect that sqlStore() was given: `await store.ready()` compares it.',
    ],
  ])('Says in words what %s means, from a call and from ready()', async (code, message) => {
    const store = failing(code)
    const [fromCall, fromReady] = [await thrownBy(store.claim(CLAIM)), await thrownBy(store.ready())]
    expect([fromCall, fromReady].every(isSallyportError)).toBe(true)
    expect([fromCall, fromReady]).toMatchObject([{ message }, { message, code: Object(fromCall).code }])
    expect(Object(fromCall).cause).toMatchObject({ code })
    expect(String(fromCall)).not.toMatch(/jane|hunter2/)
  })

  it.each([
    ['timeout exceeded when trying to connect', 'no_answer', 'The database did not answer in time.'],
    ['Connection terminated unexpectedly', 'no_answer', 'The connection to the database was closed.'],
    ['Cannot use a pool after calling end on the pool', 'config_invalid', 'The pool of the database was ended.'],
    ['Pool is closed.', 'config_invalid', 'The pool of the database was ended.'],
  ])('Knows the error without a code "%s"', async (text, code, message) => {
    const { db } = fakeDatabase(() => {
      throw new Error(text)
    })
    const store = sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
    for (const thrown of [await thrownBy(store.claim(CLAIM)), await thrownBy(store.ready())])
      expect(thrown).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  it.each(['23505', '40001', 'ER_DUP_ENTRY'])('Throws %s unchanged, for a retry of the host', async (code) => {
    expect(await thrownBy(failing(code).findDispatch('default', 'd'))).not.toSatisfy(isSallyportError)
  })

  it('Logs the sentence of ready(), and the caller gets a plain 503', async () => {
    const port = await freePort()
    const pool = new pg.Pool({ connectionString: `postgresql://jane:hunter2@127.0.0.1:${port}/prices` })
    pool.on('error', () => {})
    const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    const store = sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
    const deps = testDeps()
    const answer = await handleDispatchWithDefaults({ headers: APP, body: ORDER }, { ...deps, store })
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'store_unavailable', detail: 'Try again shortly.' },
    })
    const cause = `The database cannot be used: its driver says ECONNREFUSED at 127.0.0.1:${port}. Check that it runs, and how it is reached.`
    expect(deps.logger.lines).toMatchObject([{ event: 'request.failed', fields: { cause, causeCode: 'no_answer' } }])
    expect(JSON.stringify(deps.logger.lines)).not.toMatch(/jane|hunter2|prices/)
    await db.destroy()
  })
})

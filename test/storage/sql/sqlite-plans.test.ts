import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqlite, type TestDatabase } from '../databases.ts'
import { claim } from '../storing.ts'
import { CALLS, SWEEPS } from './cost-calls.ts'
import { drainUsedTexts, fillUsedTexts } from './cost-fill.ts'
import { type Call, type CostTrial, MANY, NOW, openTrial, STATES } from './cost-trials.ts'
import { rowsOf } from './work-meter.ts'

const ALL: Readonly<Record<string, Call>> = {
  async claim({ store }) {
    return () => claim(store, { a: 5, b: 5 })
  },
  ...CALLS,
  ...SWEEPS,
}

/** SQLite does not count what it reads, so this looks at its plans. */
describe('the plans of SQLite', () => {
  let database: TestDatabase
  let prefixes = 0
  beforeAll(async () => {
    database = await openSqlite()
  })
  afterAll(() => database.close())

  async function makeAll(trial: CostTrial): Promise<void> {
    for (const [name, call] of Object.entries(ALL)) await (await call(trial, name))()
  }

  it.each(Object.entries(STATES))(
    'The plans of SQLite find few rows by an index: %s',
    async (_, prepare) => {
      const prefix = `p${++prefixes}_`
      const trial = await openTrial({
        ...{ database, prefix, first: async () => {} },
        fill: (name, count, until) => fillUsedTexts('sqlite', { prefix, name, count, until }),
        drain: () => drainUsedTexts(prefix, NOW),
      })
      await prepare(trial, MANY)
      trial.statements.length = 0
      await makeAll(trial)
      const asked = new Map(trial.statements.map((query) => [query.sql, query.parameters]))
      const texts = [...asked].filter(([sql]) => /^(select|with|insert|update|delete) /.test(sql))
      expect(texts.length).toBeGreaterThan(50)
      for (const [sql, parameters] of texts) {
        const steps = await rowsOf(trial.db, `explain query plan ${sql}`, parameters)
        expect([sql, steps.map(({ detail }) => String(detail)).filter(isLong(sql, prefix))]).toEqual([sql, []])
      }
    },
    600_000,
  )
})

/** Whether a step reads a whole table, or all rows of a tenant or kind, or sorts. */
function isLong(sql: string, prefix: string): (step: string) => boolean {
  const tables = new Set<string | undefined>()
  for (const [, table, alias] of sql.matchAll(new RegExp(`"(${prefix}\\w+)"(?: as)? (\\w+)`, 'g'))) {
    tables.add(table)
    tables.add(alias)
  }
  return (step) => {
    const [, scanned] = /^SCAN (\w+)/.exec(step) ?? []
    return (
      tables.has(scanned) || /AUTOMATIC|\((tenant=\?|kind=\?( AND tenant=\?)?)\)$|TEMP B-TREE FOR ORDER BY/.test(step)
    )
  }
}

import { CompiledQuery } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { statementLogger } from '../support/statement-log.ts'
import { openSqlite, type TestDatabase } from './databases.ts'

describe('the log of statements', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openSqlite()
  })
  afterAll(() => database.close())

  async function logged(sql: string, parameters: readonly unknown[]): Promise<readonly string[]> {
    const texts: string[] = []
    const db = database.connect({ log: statementLogger((text) => texts.push(text)) })
    await db.executeQuery(CompiledQuery.raw(sql, [...parameters])).catch(() => {})
    return texts
  }

  it('The log of statements has each statement, and all its parameters on one line', async () => {
    const parameters = ['x'.repeat(20_000), ...Array.from({ length: 200 }, (_, at) => at)]
    const [text = '', ...more] = await logged(`select ${parameters.map(() => '?').join()}`, parameters)
    expect(more).toEqual([])
    const [statement, values = '', ...rest] = text.split('\n')
    expect(statement).toMatch(/^select \?(?:,\?){200}$/)
    expect(values).toMatch(/^ {2}\[ 'x{20000}', 0, 1, .* 198, 199 \] in \d+\.\d ms$/)
    expect(rest).toEqual([])
  })

  it('The log of statements has the error of a statement that fails', async () => {
    const [text] = await logged('select * from nowhere where id = ?', ['a'])
    expect(text).toMatch(/^select \* from nowhere where id = \?\n {2}\[ 'a' \] in .* ms\n {2}.*no such table: nowhere$/)
  })
})

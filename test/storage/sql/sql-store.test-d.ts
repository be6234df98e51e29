import type { ControlledTransaction, Kysely, Transaction } from 'kysely'
import { expectTypeOf, it } from 'vitest'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import type { SqlStore, SqlStoreOptions } from '../../../src/storage/sql/index.ts'

interface Tables {
  readonly orders: { readonly id: number; readonly note: string | null }
}

it("sqlStore() accepts a host's Kysely of any tables", () => {
  expectTypeOf<Kysely<Tables>>().toExtend<SqlStoreOptions['db']>()
  expectTypeOf<Kysely<unknown>>().toExtend<SqlStoreOptions['db']>()
})

it('within() accepts a transaction, and nothing else', () => {
  type Within = Parameters<SqlStore['within']>[0]
  expectTypeOf<Transaction<Tables>>().toExtend<Within>()
  expectTypeOf<ControlledTransaction<Tables, ['saved']>>().toExtend<Within>()
  expectTypeOf<Kysely<Tables>>().not.toExtend<Within>()
  expectTypeOf<ReturnType<SqlStore['within']>>().toEqualTypeOf<DispatchStore>()
})

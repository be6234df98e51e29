import { like, oneOf } from '../../../options/checks.ts'
import type { Check } from '../../../options/read-options.ts'
import { DIALECTS } from './dialects.ts'

/** What the store calls of a host's Kysely. */
const METHODS = ['executeQuery', 'withoutPlugins', 'connection']

export const kysely: Check = (db) => {
  if (METHODS.some((method) => typeof Reflect.get(Object(db), method) !== 'function')) return 'is no instance of Kysely'
  return Reflect.get(Object(db), 'isTransaction') === true ? 'is a transaction: use within() of a store' : undefined
}

export const dialect: Check = oneOf(Object.keys(DIALECTS))

const letters = like(/^[A-Za-z0-9_]{1,30}$/, 'must be 1-30 letters, digits and underscores')
const free = like(/^(?!sqlite_)/i, 'must not begin with sqlite_, which SQLite reserves')

/** What the names of tables begin with. */
export const prefix: Check = (value, given) => letters(value, given) ?? free(value, given)

const channel = like(
  /^[A-Za-z_][A-Za-z0-9_]{0,62}$/,
  'must be letters, digits and underscores, 63 at most, no digit first',
)

/** The channel of a queue. */
export const notify: Check = (value, given) =>
  given.dialect === 'postgresql' ? channel(value, given) : 'is for postgresql alone'

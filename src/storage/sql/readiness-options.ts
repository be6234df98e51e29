import { type ConfigProblem, SallyportError } from '../../errors.ts'
import { DIALECTS } from './dialects.ts'

type Given = Readonly<Record<string, unknown>>

/** Says what is wrong with the value of an option; `undefined`: nothing. */
type Check = (value: unknown, given: Given) => string | undefined

/** What the store calls of a host's Kysely. */
const METHODS = ['executeQuery', 'withoutPlugins', 'connection']

/** How the channel of a queue may be called. */
const CHANNEL = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/

const NAMING: Readonly<Record<string, Check>> = {
  dialect: (value) =>
    typeof value === 'string' && Object.hasOwn(DIALECTS, value)
      ? undefined
      : `is one of ${Object.keys(DIALECTS).join(', ')}`,
  prefix(value) {
    if (value === undefined) return undefined
    if (typeof value !== 'string' || !/^[A-Za-z0-9_]{1,30}$/.test(value)) {
      return 'is 1-30 letters, digits and underscores'
    }
    return /^sqlite_/i.test(value) ? 'does not begin with sqlite_, which SQLite keeps to itself' : undefined
  },
}

const STORING: Readonly<Record<string, Check>> = {
  db: kyselyFault,
  ...NAMING,
  timeoutMs: (value) =>
    value === undefined || (Number.isInteger(value) && Number(value) >= 10 && Number(value) <= 600_000)
      ? undefined
      : 'is a whole number of milliseconds, 10 to 600000',
  notify(value, { dialect }) {
    if (value === undefined) return undefined
    if (dialect !== 'postgresql') return 'is for postgresql alone'
    return typeof value === 'string' && CHANNEL.test(value)
      ? undefined
      : 'is letters, digits and underscores, 63 at most, no digit first'
  },
  clock: (value) =>
    value === undefined || typeof Reflect.get(Object(value), 'now') === 'function' ? undefined : 'has no now()',
}

/** What is wrong with the options of a store. */
export function problemsOfStore(options: object): readonly ConfigProblem[] {
  return problemsOf(options, STORING)
}

/** What is wrong with the options of the statements of one. */
export function problemsOfStatements(options: object): readonly ConfigProblem[] {
  return problemsOf(options, NAMING)
}

/** @throws {SallyportError} `config_invalid`, with all problems at once, if there are any. */
export function refuse(call: string, problems: readonly ConfigProblem[]): void {
  if (problems.length > 0) throw new SallyportError('config_invalid', `${call}:`, problems)
}

function problemsOf(options: object, checks: Readonly<Record<string, Check>>): readonly ConfigProblem[] {
  if (typeof options !== 'object' || options === null) return [{ detail: 'takes an object of options' }]
  const given: Given = { ...options }
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(checks, name))
  const wrong = Object.entries(checks).flatMap(([field, check]) => {
    const detail = check(given[field], given)
    return detail === undefined ? [] : [{ field, detail }]
  })
  return [...unknown.map((field) => ({ field, detail: 'is not an option' })), ...wrong]
}

function kyselyFault(db: unknown): string | undefined {
  if (db === undefined || db === null) return 'is missing'
  if (METHODS.some((method) => typeof Reflect.get(Object(db), method) !== 'function')) return 'is no instance of Kysely'
  return Reflect.get(Object(db), 'isTransaction') === true ? 'is a transaction: use within() of a store' : undefined
}

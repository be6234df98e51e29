import { describe, expect, it } from 'vitest'
import { isClientError } from '../../src/client/index.ts'
import { isSallyportError } from '../../src/errors.ts'
import { entries } from '../support/entries.ts'
import { reported } from '../support/reported.ts'
import { type FindMembers, kindOf, membersIn } from './option-members.ts'
import { type OptionRow, row } from './option-rows.ts'

const SECRETS = [
  'sk-live-canary7f3a9c',
  'sk-proj-canary',
  'whsec_canaryAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  'sp_live_canary7f3a',
  'ghp_canary7f3a',
  'AKIAcanary7f3a',
  'eyJhbGciOi.canary',
  'canary-7f3a-4b1d-9c0e-11aa22bb33cc',
  'postgres://ada:canary@db.example/app',
  'canary pass phrase',
]

/**
 * Tests the options of a call that the package publishes, in the test of its file. The parameters are those of {@link row}, with `call` and
 * `type` as plain texts: `option-table.test.ts` looks for them in all tests.
 */
export function testOptions<Options extends object>(...given: Parameters<typeof row<Options>>): void {
  const [entry = ''] = given[0].split(' ')
  const file = entries().get(entry)
  if (file === undefined) throw new Error(`there is no entry ${entry}`)
  testRow(row(...given), membersIn(new Map([[entry, file]])))
}

/**
 * Tests that a call refuses lists of arguments that are no ports, with an error that begins with its name.
 *
 * @param call `entry name`, as a plain text: `option-table.test.ts` looks for it in all tests.
 */
export function testArguments(call: string, make: (...parts: never[]) => unknown, lists: readonly unknown[][]): void {
  const [, name = ''] = call.split(' ')
  it.each(lists.map((parts) => [parts] as const))(`${name} refuses invalid ports: %#`, async (parts) => {
    const error = await new Promise((resolve) => resolve(make(...(parts as never[])))).catch(
      (thrown: unknown) => thrown,
    )
    expect(isSallyportError(error) || isClientError(error)).toBe(true)
    expect(error).toMatchObject({ code: 'option_invalid', message: expect.stringMatching(`^${name}:`) })
  })
}

/** Tests the options of a row: their table is whole, wrong ones are refused, and no message repeats a secret. */
export function testRow(row: OptionRow, find: FindMembers): void {
  describe(nameOf(row), () => {
    testTable(row, find)
    testRefusals(row, find)
    it.each(Object.keys(row.bad))('No message repeats a secret that is given as %s', async (name) => {
      for (const secret of SECRETS)
        for (const value of [secret, [secret], { secret }, [{ id: secret }]])
          expect(await said(row, changed(row, { [name]: value }))).not.toContain('canary')
    })
  })
}

function nameOf({ call, type, at }: OptionRow): string {
  return `${call}, ${type}${at === undefined ? '' : ` at ${at}`}`
}

function testTable(row: OptionRow, find: FindMembers): void {
  it('The option table contains every option', () => {
    expect(Object.keys(row.bad).sort()).toEqual([...find(row.call, row.type).keys()].sort())
  })

  it('The option table has a wrong type, number and list for each option', () => {
    for (const [name, { kinds }] of find(row.call, row.type)) {
      const bad = row.bad[name]?.map(kindOf) ?? []
      if (!kinds) continue
      expect([name, bad.some((kind) => !kinds.has(kind))]).toEqual([name, true])
      // Values of the right type that are out of range.
      const ranged = ['number', 'list'].filter((kind) => kinds.has(kind))
      expect([name, ...ranged.filter((kind) => !bad.includes(kind))]).toEqual([name])
    }
  })
}

function testRefusals(row: OptionRow, find: FindMembers): void {
  it('Valid options are accepted', async () => {
    expect(await linesOf(row, row.good)).toBe('')
  })

  it.skipIf(row.open)('Valid inherited options are accepted', async () => {
    expect(await linesOf(row, replaced(row, Object.create))).toBe('')
  })

  it.each(Object.entries(row.bad).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'The option %s refuses %o',
    async (name, value) => {
      expect(`\n${await linesOf(row, changed(row, { [name]: value }))}`).toContain(`\n${fieldsOf(row)}${name}`)
    },
  )

  it.each(Object.keys(row.bad).filter((name) => !row.anything?.includes(name)))(
    'The option %s refuses null',
    async (name) => {
      expect(`\n${await linesOf(row, changed(row, { [name]: null }))}`).toContain(`\n${fieldsOf(row)}${name}`)
    },
  )

  it.each(Object.keys(row.bad).filter(() => !row.open))(
    'A misspelt option %s is refused with a suggestion',
    async (name) => {
      const lines = await linesOf(row, changed(row, { [`${name}x`]: Object(row.good)[name] ?? 1 }))
      const line = lines.split('\n').filter((each) => each.startsWith(`${fieldsOf(row)}${name}x is not an option`))
      expect(line).toHaveLength(1)
      expect(lines.slice(lines.indexOf('is not an option'))).toContain(name)
    },
  )

  it('Missing required options are refused', async () => {
    for (const [name, { isRequired }] of find(row.call, row.type)) {
      if (!isRequired) continue
      expect(`\n${await linesOf(row, changed(row, { [name]: undefined }))}`).toContain(`\n${fieldsOf(row)}${name}`)
    }
  })

  it('All wrong options are reported at once', async () => {
    const names = Object.keys(row.bad).filter((name) => !row.anything?.includes(name))
    const wrong = { ...Object.fromEntries(names.map((name) => [name, null])), ...(!row.open && { nonsense: 1 }) }
    const lines = `\n${await linesOf(row, changed(row, wrong))}`
    for (const name of names) expect(lines).toContain(`\n${fieldsOf(row)}${name}`)
    if (!row.open) expect(lines).toContain(`\n${row.foreign ?? `${fieldsOf(row)}nonsense`}`)
  })

  const isWhole = row.at === undefined && row.fields === undefined && !row.open
  it.skipIf(!isWhole)('Options that are not an object are refused', async () => {
    for (const none of [null, 'x', 7, [], () => {}]) expect(await linesOf(row, none)).not.toBe('')
  })
}

/** The problems that a call reports, one a line; empty if it accepts the options. */
async function linesOf({ run }: OptionRow, options: unknown): Promise<string> {
  try {
    const given: unknown = await run(options as never)
    const { ok, body } = Object(given)
    return ok === false ? String(body.detail).replaceAll('; ', '\n') : ''
  } catch (error) {
    if (isSallyportError(error) && error.status === 422) {
      return error.message.replace(/^.*? as validation_failed: /, '').replaceAll('; ', '\n')
    }
    if (isSallyportError(error)) {
      expect(error.code).toMatch(/^(?:config|option|events)_invalid$/)
      return reported(error)
    }
    if (isClientError(error) && error.code === 'network') return ''
    if (isClientError(error)) {
      expect(error.code).toBe('option_invalid')
      return error.message.replace(/^\S+: /, '').replaceAll('; ', '\n')
    }
    throw error
  }
}

/** All that a call says of its options. */
async function said({ run }: OptionRow, options: unknown): Promise<string> {
  try {
    const { ok, body } = Object(await run(options as never))
    return ok === false ? JSON.stringify(body) : ''
  } catch (error) {
    return `${Reflect.get(Object(error), 'message')} ${JSON.stringify(error)} ${JSON.stringify(Object(error).problems)}`
  }
}

/** The valid options of a row, with some changed. */
function changed(row: OptionRow, change: object): unknown {
  return replaced(row, (own) => ({ ...own, ...change }))
}

/** The valid options of a row, with its own options replaced. */
function replaced({ good, at = '' }: OptionRow, replace: (own: object) => object): unknown {
  const put = (whole: object, [name, ...rest]: readonly string[]): object => {
    if (name === undefined) return replace(whole)
    const inner = put(Reflect.get(whole, name), rest)
    return Array.isArray(whole) ? whole.with(Number(name), inner) : { ...whole, [name]: inner }
  }
  return put(good, at.match(/[^.[\]]+/g) ?? [])
}

function fieldsOf({ at, fields = at === undefined ? '' : `${at}.` }: OptionRow): string {
  return fields
}

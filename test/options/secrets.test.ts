import { describe, expect, it } from 'vitest'
import { nameOf, ROWS } from './all-rows.ts'
import type { OptionRow } from './option-rows.ts'

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

/** Calls that open connections or write. */
const CONNECTS = /^sallyport\/(?:postgres|bullmq|sql|cli)/

const rows = ROWS.filter(({ call }) => !CONNECTS.test(call))

/** Puts a value into the options of a row, at the place of its own options. */
function put({ good, at = '' }: OptionRow, name: string, value: unknown): object {
  const within = (whole: object, [step, ...rest]: readonly string[]): object => {
    if (step === undefined) return { ...whole, [name]: value }
    const inner = within(Object(Reflect.get(whole, step)), rest)
    return Array.isArray(whole) ? whole.with(Number(step), inner) : { ...whole, [step]: inner }
  }
  return within(good, at.match(/[^.[\]]+/g) ?? [])
}

async function said(row: OptionRow, options: object): Promise<string> {
  try {
    const { ok, body } = Object(await row.run(options as never))
    return ok === false ? JSON.stringify(body) : ''
  } catch (error) {
    return `${Reflect.get(Object(error), 'message')} ${JSON.stringify(error)} ${JSON.stringify(Object(error).problems)}`
  }
}

describe.each(rows.map((row) => [nameOf(row), row] as const))('%s', (_, row) => {
  it.each(Object.keys(row.bad))('No message repeats a secret that is given as %s', async (name) => {
    for (const secret of SECRETS)
      for (const value of [secret, [secret], { secret }, [{ id: secret }]])
        expect(await said(row, put(row, name, value))).not.toContain('canary')
  })
})

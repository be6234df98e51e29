import { expect, it } from 'vitest'
import { type Column, readerOf } from './may-hold.ts'

const COLUMNS = {
  ...{
    log: true,
    problem: true,
    answer: true,
    preview: true,
    start: true,
    call: true,
    span: true,
    metric: true,
    alarm: true,
  },
  ...{ limiter: true, process: true, look: true },
} satisfies Readonly<Record<Column, true>>

it('The table has a cell for every column, and lets no secret of the host out', () => {
  const secrets = ['application secret', 'session token', 'signing key', 'webhook secret', 'connection string']
  for (const kind of [...secrets, 'credentials for a provider', 'idempotency key', 'text of a provider'])
    for (const column of Object.keys(COLUMNS) as Column[]) expect(readerOf(kind, column)).toBe('-')
  expect(() => readerOf('no kind', 'log')).toThrow('no cell')
})

it('The table lets no data into the log, an alarm or the process', () => {
  for (const kind of ['recipient as sent', 'event data', 'content', 'session id', 'run: content', 'error of a port'])
    for (const column of ['log', 'alarm', 'process'] as const) expect(readerOf(kind, column)).toBe('-')
})

import { expect, it } from 'vitest'
import { cells, IN_TABLES } from '../../docs/comparing.ts'
import { ALERTS_CLAIMS } from '../alerts/claims.ts'

it('Each statement about Sallyport in the tables of the comparison has a proof', () => {
  expect([...cells()].sort()).toEqual(Object.keys({ ...IN_TABLES, ...ALERTS_CLAIMS }).sort())
})

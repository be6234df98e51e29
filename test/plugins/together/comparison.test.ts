import { expect, it } from 'vitest'
import { cells, IN_TABLES } from '../../docs/comparing.ts'
import { ALERTS_CLAIMS } from '../alerts/claims.ts'
import { APPROVALS_CLAIMS } from '../approvals/claims.ts'
import { CONSENT_CLAIMS } from '../consent/claims.ts'

it('Each statement about Sallyport in the tables of the comparison has a proof', () => {
  const proofs = { ...IN_TABLES, ...ALERTS_CLAIMS, ...APPROVALS_CLAIMS, ...CONSENT_CLAIMS }
  expect([...cells()].sort()).toEqual(Object.keys(proofs).sort())
})

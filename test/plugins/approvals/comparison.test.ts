import { expect, it } from 'vitest'
import { cells } from '../../docs/comparing.ts'
import { APPROVALS_CLAIMS } from './claims.ts'

it.each(Object.entries(APPROVALS_CLAIMS))('The table of the comparison is right: %s', async (claim, proof) => {
  expect(cells()).toContain(claim)
  await proof()
})

import { expect, it } from 'vitest'
import { ENTRIES } from './entries.ts'

it('The size budgets keep the client under 2.5 kB, and under 5 kB with the run recorder', () => {
  const { limit, parts } = ENTRIES['sallyport/client'] ?? {}
  expect(parts?.['{ createClient }']).toBeLessThanOrEqual(2.5)
  expect(limit).toBeLessThanOrEqual(5)
})

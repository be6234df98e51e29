import { expect, it } from 'vitest'
import { HANG_MS } from '../support/unhurried.ts'
import { removePlugin, STEPS } from './without-plugin.ts'

// `npm run without` checks every plugin, and runs all tests too.
it(
  'The rest compiles without a plugin, and its routes are 404',
  async () => {
    const copy = await removePlugin('agent-tokens')
    try {
      for (const step of ['compile', 'routes']) expect([step, await STEPS[step]?.(copy)]).toEqual([step, true])
    } finally {
      await copy.remove()
    }
  },
  HANG_MS,
)

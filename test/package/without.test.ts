import { expect, it } from 'vitest'
import { HANG_MS } from '../support/unhurried.ts'
import { removePlugin, STEPS } from './without-plugin.ts'

// `npm run without` checks any plugin, and runs all tests too. `plugin-walls.test.ts` finds imports that stand in its way.
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

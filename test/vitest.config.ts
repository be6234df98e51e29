import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { aliases } from './support/aliases.ts'
import { MAKES_CODE } from './support/makes-code.ts'

/** Files that start many processes, and measure what becomes of them. */
const CHAOS = 'test/labs/chaos/**/*.test.ts'

const config: ViteUserConfig = defineConfig({
  resolve: { alias: aliases() },
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most of them wait for a database or a process of their own.
    maxWorkers: '100%',
    coverage: { include: ['src/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [CHAOS, ...Object.keys(MAKES_CODE)],
          // What is in none of the others makes no code of a text.
          execArgv: ['--disallow-code-generation-from-strings'],
          typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: 'test/types/tsconfig.json' },
        },
      },
      { extends: true, test: { name: 'makes-code', include: Object.keys(MAKES_CODE) } },
      // After all others, with the machine to itself.
      { extends: true, test: { name: 'chaos', include: [CHAOS], sequence: { groupOrder: 1 } } },
    ],
  },
})

export default config

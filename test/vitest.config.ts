import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { aliases } from './support/aliases.ts'

/** Files that start many processes, and measure what becomes of them. */
const CHAOS = 'test/chaos/**/*.test.ts'

const config: ViteUserConfig = defineConfig({
  resolve: { alias: aliases() },
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: { include: ['src/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [CHAOS],
          typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: 'tsconfig.json' },
        },
      },
      // After all others, with the machine to itself.
      { extends: true, test: { name: 'chaos', include: [CHAOS], sequence: { groupOrder: 1 } } },
    ],
  },
})

export default config

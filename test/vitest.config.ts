import { availableParallelism } from 'node:os'
import { defineConfig, type ViteUserConfig } from 'vitest/config'
import { aliases } from './support/aliases.ts'
import { consoleAssets } from './support/console-assets.ts'
import { MAKES_CODE } from './support/makes-code.ts'

/** Files that start and kill many processes. */
const CHAOS = 'test/labs/chaos/**/*.test.ts'

const config: ViteUserConfig = defineConfig({
  plugins: [consoleAssets()],
  resolve: { alias: aliases() },
  test: {
    // Generous, for a busy machine: they only end a test that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Slow files wait for a database or a process most of the time.
    maxWorkers: Math.max(3, availableParallelism()),
    coverage: { include: ['src/**'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [CHAOS, ...Object.keys(MAKES_CODE)],
          // Files of this project do not generate code from strings.
          execArgv: ['--disallow-code-generation-from-strings'],
          typecheck: { enabled: true, include: ['test/**/*.test-d.ts'], tsconfig: 'test/types/tsconfig.json' },
        },
      },
      { extends: true, test: { name: 'makes-code', include: Object.keys(MAKES_CODE) } },
      // Runs after all others, alone on the machine.
      { extends: true, test: { name: 'chaos', include: [CHAOS], sequence: { groupOrder: 1 } } },
    ],
  },
})

export default config

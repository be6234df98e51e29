import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config'
import { aliases } from './support/aliases.ts'
import { consoleAssets } from './support/console-assets.ts'
import { MAKES_CODE, makesCode } from './support/makes-code.ts'
import { type Part, REST_FILES, testFiles } from './support/parts.ts'
import { SlowestFirst } from './support/slowest-first.ts'

/** Starts and kills many processes: runs after all others. */
const CHAOS = 'test/labs/chaos/chaos.test.ts'
const ALL = ['test/**/*.test.ts']
const CODE = Object.keys(MAKES_CODE)

/** Files of a part that share the options of their processes. */
function group(
  part: Part,
  name: string,
  options: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration {
  const env = {
    SALLYPORT_TEST_PART: part,
    SALLYPORT_PROPERTY_RUNS: process.env.SALLYPORT_PROPERTY_RUNS ?? (part === 'quick' ? '0.05' : '1'),
  }
  return { extends: true, test: { name, env, ...options } }
}

const rest = testFiles('rest')
const noCode = { execArgv: ['--disallow-code-generation-from-strings'] }

const config: ViteUserConfig = defineConfig({
  plugins: [consoleAssets()],
  resolve: { alias: aliases() },
  test: {
    // Generous, for a busy machine: they only end a test that hangs.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    // Test files of one process share loaded modules.
    isolate: false,
    setupFiles: ['test/support/restore-globals.ts'],
    // Slow files wait for a database or a process most of the time.
    maxWorkers: Math.max(3, availableParallelism()),
    sequence: { sequencer: SlowestFirst },
    globalSetup: ['test/support/set-up.ts'],
    coverage: { include: ['src/**'] },
    projects: [
      group('quick', 'quick', { include: ALL, exclude: [...REST_FILES, ...CODE], ...noCode }),
      group('quick', 'quick-makes-code', { include: CODE, exclude: [...REST_FILES] }),
      group('rest', 'rest', { include: rest.filter((file) => !makesCode(file)), exclude: [CHAOS], ...noCode }),
      group('rest', 'rest-makes-code', { include: rest.filter(makesCode) }),
      group('rest', 'rest-chaos', { include: [CHAOS], sequence: { groupOrder: 1 } }),
    ],
  },
})

export default config

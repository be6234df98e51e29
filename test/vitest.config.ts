import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectConfiguration, type ViteUserConfig } from 'vitest/config'
import { aliases } from './support/aliases.ts'
import { consoleAssets } from './support/console-assets.ts'
import { makesCode } from './support/makes-code.ts'
import { type Part, testFiles } from './support/parts.ts'
import { ServicesFirst } from './support/services-first.ts'

/** Files that start and kill many processes. They run after all others. */
const CHAOS = 'test/labs/chaos/'

const PROPERTY_RUNS: Readonly<Record<Part, number>> = { quick: 0.05, rest: 1 }

/** A part in groups of files that share the options of their processes. */
function projectsOf(part: Part): TestProjectConfiguration[] {
  const files = testFiles(part)
  const env = {
    SALLYPORT_TEST_PART: part,
    SALLYPORT_PROPERTY_RUNS: process.env.SALLYPORT_PROPERTY_RUNS ?? `${PROPERTY_RUNS[part]}`,
  }
  const group = (name: string, include: string[], more: object = {}): TestProjectConfiguration[] =>
    include.length === 0 ? [] : [{ extends: true, test: { name, include, env, ...more } }]
  const isChaos = (file: string): boolean => file.startsWith(CHAOS)
  const others = files.filter((file) => !isChaos(file))
  return [
    ...group(
      part,
      others.filter((file) => !makesCode(file)),
      {
        execArgv: ['--disallow-code-generation-from-strings'],
      },
    ),
    ...group(`${part}-makes-code`, others.filter(makesCode)),
    ...group(`${part}-chaos`, files.filter(isChaos), { sequence: { groupOrder: 1 } }),
  ]
}

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
    sequence: { sequencer: ServicesFirst },
    globalSetup: ['test/support/set-up.ts'],
    coverage: { include: ['src/**'] },
    projects: [...projectsOf('quick'), ...projectsOf('rest')],
  },
})

export default config

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** `npm test` runs `quick`, `npm run test:rest` what that leaves out. */
export type Part = 'quick' | 'rest'

/** Test files that only `npm run test:rest` runs, by what they need. */
const REST_ONLY: Readonly<Record<string, readonly string[]>> = {
  'a browser': [
    'test/console/access-in-a-browser.test.ts',
    'test/console/boundary.test.ts',
    'test/console/keyboard.test.ts',
    'test/console/markup-in-a-browser.test.ts',
    'test/console/polling.test.ts',
    'test/console/preview.test.ts',
    'test/console/screens.test.ts',
    'test/console/session-pages.test.ts',
    'test/console/states.test.ts',
    'test/docs/built-site.test.ts',
  ],
  'the built package': [
    'test/adapters/hosts/next.test.ts',
    'test/docs/console-hosts.test.ts',
    'test/docs/host-recipes.test.ts',
    'test/docs/next-recipe.test.ts',
    'test/docs/operating-recipes.test.ts',
    'test/package/installed.test.ts',
    'test/package/tree-shaking.test.ts',
    'test/processes/fatal-connection.test.ts',
    'test/processes/worker-only.test.ts',
  ],
  Redis: ['test/queues/bullmq.test.ts', 'test/queues/bullmq-outage.test.ts', 'test/storage/documents/redis.test.ts'],
  'many processes': ['test/labs/chaos/chaos.test.ts'],
}

/** Modules of files that run in both parts: they try more examples, or more services, in the second. */
const IN_BOTH = /from '[./\w-]*\/(properties|databases|services)\.ts'/

const restOnly = new Set(Object.values(REST_ONLY).flat())

/** Test files of a part, as paths from the root. */
export function testFiles(part: Part): readonly string[] {
  const names = readdirSync(new URL('test', `file://${ROOT}`), { recursive: true, encoding: 'utf8' })
  const files = names.filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`)
  if (part === 'quick') return files.filter((file) => !restOnly.has(file))
  return files.filter((file) => restOnly.has(file) || IN_BOTH.test(readFileSync(`${ROOT}${file}`, 'utf8')))
}

/** The part that runs. Without vitest's configuration: both. */
export const PART = process.env.SALLYPORT_TESTS as Part | undefined

import { readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)

/** `npm test` runs `quick`, `npm run test:rest` runs `rest`. */
export type Part = 'quick' | 'rest'

/** The part that runs; absent outside of vitest. */
export const PART: Part | undefined = process.env.SALLYPORT_TEST_PART as Part | undefined

/** The import of a module that opens a browser. */
const HAS_BROWSER = /from '[./\w]*\/browser\.ts'/

/** The use of a function that opens a PostgreSQL, or of one that gives all databases. */
const OPENS_POSTGRESQL = /\bopenPostgresql\b/
const HAS_DATABASES = /\bdatabaseKinds\b/

/** Test files of `rest` alone, by what they need. They start in this order, so those that end last are first. */
const REST_ONLY: Readonly<Record<string, readonly string[]>> = {
  npm: [
    'test/labs/quick-start/quick-start.test.ts',
    'test/package/supply-chain-audit.test.ts',
    'test/package/version-ranges.test.ts',
  ],
  'large tables': [
    'test/storage/sql/claim-costs.test.ts',
    'test/storage/sql/list-plans.test.ts',
    'test/storage/sql/sqlite-plans.test.ts',
    'test/storage/sql/statement-costs.test.ts',
  ],
  PostgreSQL: allTestFiles().filter(isOnPostgresql),
  'a PostgreSQL of its own': ['test/storage/sql/write-costs.test.ts'],
  PgBouncer: ['test/storage/sql/pgbouncer.test.ts'],
  'many stores': ['test/storage/sql/killed-writes.test.ts'],
  'a browser': allTestFiles().filter(opensBrowser),
  'the built package': [
    'test/adapters/hosts/next.test.ts',
    'test/cli/init-hosts.test.ts',
    'test/docs/console-hosts.test.ts',
    'test/docs/host-recipes.test.ts',
    'test/docs/next-recipe.test.ts',
    'test/docs/operating-recipes.test.ts',
    'test/package/installed.test.ts',
    'test/package/tree-shaking.test.ts',
    'test/processes/fatal-connection.test.ts',
    'test/processes/worker-only.test.ts',
  ],
  'the compiler': [
    'test/docs/snippets.test.ts',
    'test/openapi/client.test.ts',
    'test/openapi/generators.test.ts',
    'test/package/without.test.ts',
  ],
  Redis: [
    'test/queues/bullmq.test.ts',
    'test/queues/bullmq-notices.test.ts',
    'test/queues/bullmq-outage.test.ts',
    'test/storage/documents/redis.test.ts',
  ],
  'a flushed file for each change': ['test/storage/documents/json-file.test.ts'],
  'a log line of each call': [
    'test/hostile/leaks/ports.test.ts',
    'test/hostile/leaks/sends.test.ts',
    'test/hostile/leaks/sql.test.ts',
  ],
  'a mail server for each of twenty tasks': ['test/labs/agent-tasks/agent-tasks.test.ts'],
  'every framework': [
    'test/adapters/hosts/fastify.test.ts',
    'test/adapters/hosts/h3.test.ts',
    'test/adapters/hosts/itty-router.test.ts',
  ],
  'a store with each fault': [
    'test/contract-tests/planted-dispatch-bugs.test.ts',
    'test/contract-tests/planted-run-bugs.test.ts',
  ],
  'thousands of requests': [
    'test/hostile/floods/chunk-amplification.test.ts',
    'test/hostile/tokens/handlers.test.ts',
    'test/hostile/tokens/http.test.ts',
  ],
  'much of one plugin': allTestFiles().filter((file) => file.includes('/slow/')),
  'all contracts on another database': ['test/storage/documents/map.test.ts'],
  'a collected heap': ['test/storage/run-removal.test.ts'],
  'many processes': ['test/client/process-end.test.ts', 'test/docs/tutorials.test.ts', 'test/labs/chaos/chaos.test.ts'],
}

/** Files of `rest` alone. */
export const REST_FILES: ReadonlySet<string> = new Set(Object.values(REST_ONLY).flat())

/** The import of the module that sets how many examples a property tries. */
const HAS_PROPERTIES = /from '[./]+\/support\/properties\.ts'/
/** What gives more databases or services in `rest`, or a module that uses it for several files. */
const HAS_SERVICES = /\bdatabaseKinds\b|from '[./\w-]*\/(?:services|odd-names)\.ts'/

/** Files of a part, as paths from the root. Some are of both: in `rest` they try more examples, or use more services. */
export function testFiles(part: Part): readonly string[] {
  const files = allTestFiles()
  if (part === 'quick') return files.filter((file) => !REST_FILES.has(file))
  return files.filter((file) => REST_FILES.has(file) || hasProperties(file) || usesServices(file))
}

/** True if `rest` repeats a file of `npm test` only with more services. */
export function runsForServices(file: string): boolean {
  return !REST_FILES.has(file) && !hasProperties(file)
}

/** A file's path from the root. */
export function pathOf(file: string): string {
  return relative(fileURLToPath(ROOT), file)
}

/** True if a file waits for databases or other services. */
export function usesServices(file: string): boolean {
  return HAS_SERVICES.test(textOf(file))
}

/** The turn at which a file starts; many have the same. The slowest are first. */
export function turnOf(file: string): number {
  if (REST_FILES.has(file)) return [...REST_FILES].indexOf(file)
  return REST_FILES.size + (usesServices(file) ? 0 : 1)
}

/** True if a file opens a browser, whose driver generates code from strings. */
export function opensBrowser(file: string): boolean {
  return HAS_BROWSER.test(textOf(file))
}

/** True if a file opens a PostgreSQL, and not each database in turn. */
function isOnPostgresql(file: string): boolean {
  const text = textOf(file)
  return OPENS_POSTGRESQL.test(text) && !HAS_DATABASES.test(text)
}

function hasProperties(file: string): boolean {
  return HAS_PROPERTIES.test(textOf(file))
}

/** Files that try examples of properties. */
export function propertyFiles(): readonly string[] {
  return allTestFiles().filter(hasProperties)
}

/** All test files, as paths from the root. */
export function allTestFiles(): readonly string[] {
  const names = readdirSync(new URL('test/', ROOT), { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith('.test.ts')).map((name) => `test/${name}`)
}

function textOf(file: string): string {
  return readFileSync(new URL(file, ROOT), 'utf8')
}

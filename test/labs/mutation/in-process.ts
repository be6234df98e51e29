import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CollectedTest, Suite } from './collected-tests.ts'
import { registerTestModules } from './module-hooks.ts'

/** Of Node 22, which Stryker needs. */
declare module 'node:fs' {
  export function globSync(pattern: string): string[]
}

/** A test that takes longer has failed. */
const TIMEOUT_MS = 5_000

/** How Stryker writes the end of a test. */
const SUCCESS = 0
const FAILED = 1

interface TestEnd {
  readonly id: string
  readonly name: string
  readonly fileName: string
  readonly timeSpentMs: number
  readonly status: typeof SUCCESS | typeof FAILED
  readonly failureMessage?: string
}

interface Options {
  /** Globs of test files, and the tests in them that are left out. */
  readonly inProcess: Readonly<Record<'include' | 'exclude' | 'leaveOut', readonly string[]>>
}

interface MutantRun {
  readonly activeMutant: { readonly id: string; readonly fileName: string }
  readonly testFilter?: readonly string[]
}

/** What the instrumented code reads and writes. */
interface Shared {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { readonly perTest: Readonly<Record<string, Readonly<Record<string, number>>>> } | undefined
}

/** What a run without mutants tells all processes of a test: how long it took, and how often it came by each mutant. */
type Known = Readonly<Record<string, { readonly ms: number; readonly hits: Readonly<Record<string, number>> }>>

/** In the sandbox. */
const KNOWN = 'stryker-dry-run.json'
/** A test that comes by a mutant so many times as often as without it does not end. */
const ENDLESS = 100

type Words = typeof import('./collected-tests.ts')

/**
 * Runs tests in Stryker's own worker process, which loads them once: a mutant costs what the tests cost until one of them fails,
 * the quickest first. What a test file does as it is loaded is done without a mutant.
 */
class InProcess {
  static inject = ['options'] as const
  readonly #options: Options['inProcess']
  readonly #tests = new Map<string, CollectedTest>()
  readonly #begun = new Set<Suite>()
  readonly #shared: Shared = Object.assign(globalThis, { __stryker__: {} }).__stryker__
  #known: Known | undefined
  #words: Pick<Words, 'collectTests' | 'suitesOf' | 'takeFinishers' | 'vi'> | undefined

  constructor({ inProcess }: Options) {
    this.#options = inProcess
  }

  /** It reloads nothing, and need not: mutants that are active only while modules load are ignored. */
  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true }
  }

  async init(): Promise<void> {
    // What a mutant leaves behind must not end the process.
    for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, () => {})
    process.removeAllListeners('warning')
    registerTestModules()
    const words: Words = await import(urlOf('test/labs/mutation/collected-tests.ts'))
    this.#words = words
    const { include, exclude, leaveOut } = this.#options
    const excluded = new Set(exclude.flatMap((glob) => globSync(glob)))
    const isLeftOut = new RegExp(leaveOut.join('|'))
    const files = include.flatMap((glob) => globSync(glob)).filter((file) => !excluded.has(file))
    for (const file of files.sort()) {
      for (const test of await words.collectTests(file, () => import(urlOf(file)))) {
        if (!isLeftOut.test(test.name)) this.#tests.set(test.id, test)
      }
    }
  }

  async dryRun(): Promise<object> {
    const tests: TestEnd[] = []
    for (const id of this.#tests.keys()) {
      this.#shared.currentTestId = id
      const end = await this.#run(id)
      this.#shared.currentTestId = undefined
      tests.push(end)
    }
    await this.#endSuites()
    const { mutantCoverage } = this.#shared
    this.#shared.mutantCoverage = undefined
    const known = tests.map(({ id, timeSpentMs: ms }) => [id, { ms, hits: mutantCoverage?.perTest[id] ?? {} }])
    writeFileSync(KNOWN, JSON.stringify(Object.fromEntries(known)))
    return { status: 'complete', tests, mutantCoverage }
  }

  async mutantRun({ activeMutant: { id: activeMutant, fileName }, testFilter = [] }: MutantRun): Promise<object> {
    this.#known ??= JSON.parse(readFileSync(KNOWN, 'utf8')) as Known
    const known = this.#known
    let nrOfTests = 0
    let killer: TestEnd | undefined
    let isEndless = false
    const order = (id: string): number => (isAbout(id, fileName) ? 0 : TIMEOUT_MS) + (known[id]?.ms ?? 0)
    for (const id of [...testFilter].sort((a, b) => order(a) - order(b))) {
      const hitLimit = ENDLESS * (1 + (known[id]?.hits[activeMutant] ?? 0))
      Object.assign(this.#shared, { activeMutant, hitCount: 0, hitLimit })
      const end = await this.#run(id)
      nrOfTests++
      isEndless = (this.#shared.hitCount ?? 0) > hitLimit
      if (end.status === FAILED) killer = end
      if (killer || isEndless) break
    }
    await this.#endSuites()
    Object.assign(this.#shared, { activeMutant: undefined, hitCount: undefined })
    if (isEndless) return { status: 'timeout', reason: 'it came by too often' }
    if (!killer) return { status: 'survived', nrOfTests }
    return { status: 'killed', nrOfTests, killedBy: [killer.id], failureMessage: killer.failureMessage }
  }

  async #run(id: string): Promise<TestEnd> {
    const test = this.#tests.get(id)
    if (!test) throw new Error(`there is no test ${id}`)
    const since = performance.now()
    const end = (): Omit<TestEnd, 'status'> => {
      return { id, name: test.name, fileName: resolve(test.file), timeSpentMs: performance.now() - since }
    }
    try {
      await inTime(this.#steps(test))
      return { ...end(), status: SUCCESS }
    } catch (thrown) {
      return { ...end(), status: FAILED, failureMessage: String(thrown).slice(0, 500) }
    }
  }

  async #steps(test: CollectedTest): Promise<void> {
    const { suitesOf, takeFinishers, vi } = this.#words as Words
    const suites = suitesOf(test)
    const context = { task: { name: test.name } }
    for (const suite of suites) {
      if (this.#begun.has(suite)) continue
      this.#begun.add(suite)
      for (const hook of suite.hooks.beforeAll) await hook(context)
    }
    try {
      for (const { hooks } of suites) for (const hook of hooks.beforeEach) await hook(context)
      await test.run(context)
    } finally {
      for (const hook of takeFinishers()) await hook(context)
      for (const { hooks } of [...suites].reverse()) for (const hook of hooks.afterEach) await hook(context)
      vi.restoreAllMocks()
    }
  }

  async #endSuites(): Promise<void> {
    for (const { hooks } of this.#begun) for (const hook of hooks.afterAll) await inTime(hook({})).catch(() => {})
    this.#begun.clear()
  }
}

/** Whether a test is in the file that is named after the mutant's. */
function isAbout(id: string, fileName: string): boolean {
  return id.includes(`/${basename(fileName, '.ts')}.test.ts#`)
}

function urlOf(file: string): string {
  return pathToFileURL(resolve(file)).href
}

async function inTime(running: unknown): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('took too long')), TIMEOUT_MS)
  })
  try {
    await Promise.race([running, late])
  } finally {
    clearTimeout(timer)
  }
}

export const strykerPlugins: readonly object[] = [
  { kind: 'TestRunner', name: 'in-process', injectableClass: InProcess },
]

/** Lets Stryker know the option. */
export const strykerValidationSchema: object = { properties: { inProcess: { type: 'object' } } }

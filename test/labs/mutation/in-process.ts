import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CollectedTest, Suite } from './collected-tests.ts'
import { registerTestModules } from './module-hooks.ts'

/** A function of Node 22, which Stryker needs. The types of this project are those of Node 20. */
declare module 'node:fs' {
  export function globSync(pattern: string): string[]
}

/** A test that takes longer fails. */
const TIMEOUT_MS = 5_000
const TICK_MS = 100
/** A test that waits takes at most this many times `slowMs`. */
const MOST_WAITING = 5
/** This many tests that killed other mutants run first: they often kill the next one too. */
const MOST_KILLERS = 20
/** Not those that a test fakes. */
const { setInterval, clearInterval } = globalThis

/** Stryker's codes for the result of a test. */
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
  readonly inProcess: {
    /** Globs of test files. */
    readonly include: readonly string[]
    readonly exclude: readonly string[]
    /** Parts of titles, as regular expressions. Tests with such a title are left out. */
    readonly leaveOut: readonly string[]
    /** A test that needs more processor time than this without a mutant is left out. */
    readonly slowMs: number
  }
}

interface MutantRun {
  readonly activeMutant: { readonly id: string; readonly fileName: string }
  readonly testFilter?: readonly string[]
}

/** The variables that the instrumented code reads and writes. */
interface Shared {
  activeMutant?: string | undefined
  currentTestId?: string | undefined
  hitCount?: number | undefined
  hitLimit?: number | undefined
  mutantCoverage?: { readonly perTest: Coverage } | undefined
}

/** How often each test executes each mutant. */
type Coverage = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Results of the run without mutants, by test: its duration, and how often it executed each mutant. */
type Known = Readonly<Record<string, { readonly ms: number; readonly hits: Readonly<Record<string, number>> }>>

/** Passes these results to Stryker's other processes. The file is in Stryker's copy of the project. */
const KNOWN = 'stryker-dry-run.json'
/** Passes the ids of slow tests to Stryker's other processes. */
const SLOW = 'stryker-slow-tests.json'
/** A test that executes a mutant this many times as often as in the run without mutants is in an endless loop. */
const ENDLESS = 100
/** With so many executions, a tenth of `ENDLESS` suffices. */
const MANY_HITS = 100_000

type Words = typeof import('./collected-tests.ts')

/**
 * Runs tests in Stryker's own worker process. Each process loads the test files once. A mutant then runs the tests that execute it,
 * one after the other, until one fails. Code that runs while a test file loads runs without a mutant.
 */
class InProcess {
  static inject = ['options'] as const
  readonly #options: Options['inProcess']
  readonly #tests = new Map<string, CollectedTest>()
  readonly #begun = new Set<Suite>()
  readonly #shared: Shared = Object.assign(globalThis, { __stryker__: {} }).__stryker__
  #known: Known | undefined
  /** Tests that killed mutants, the latest first. */
  #killers: readonly string[] = []
  #words: Pick<Words, 'collectTests' | 'suitesOf' | 'takeFinishers' | 'vi'> | undefined

  constructor({ inProcess }: Options) {
    this.#options = inProcess
  }

  /** Claims to reload modules, though it does not: `ignoreStatic` excludes the mutants that would need it. */
  capabilities(): { reloadEnvironment: boolean } {
    return { reloadEnvironment: true }
  }

  async init(): Promise<void> {
    // A late error that a mutant causes must not end the process.
    for (const event of ['unhandledRejection', 'uncaughtException']) process.on(event, () => {})
    process.removeAllListeners('warning')
    // At most 40 examples of each property: `test/support/properties.ts` reads both. `FEW_RUNS=400` for rules that need more.
    process.env.SALLYPORT_PROPERTY_RUNS = '0'
    process.env.FEW_RUNS ??= '40'
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
    await this.#leaveOutSlow()
  }

  /**
   * Leaves out slow tests. The first process runs all tests once for this, before the dry run: Stryker adds the time of the dry run that
   * no test reports to each time-out.
   */
  async #leaveOutSlow(): Promise<void> {
    if (!existsSync(SLOW)) writeFileSync(SLOW, JSON.stringify(await this.#slowTests()))
    for (const id of JSON.parse(readFileSync(SLOW, 'utf8'))) this.#tests.delete(id)
  }

  async #slowTests(): Promise<readonly string[]> {
    const slow: string[] = []
    // Else the executed mutants would count as static.
    this.#shared.currentTestId = SLOW
    for (const id of this.#tests.keys()) {
      const before = process.cpuUsage()
      const { timeSpentMs } = await this.#run(id)
      const { user, system } = process.cpuUsage(before)
      const spentMs = Math.max((user + system) / 1_000, timeSpentMs / MOST_WAITING)
      if (spentMs > this.#options.slowMs) slow.push(id)
    }
    this.#shared.currentTestId = undefined
    await this.#endSuites()
    return slow
  }

  async dryRun(): Promise<object> {
    const tests: TestEnd[] = []
    for (const id of this.#tests.keys()) {
      this.#shared.currentTestId = id
      tests.push(await this.#run(id))
      this.#shared.currentTestId = undefined
    }
    await this.#endSuites()
    const mutantCoverage = { static: {}, ...this.#shared.mutantCoverage, perTest: this.#coverage() }
    this.#shared.mutantCoverage = undefined
    const known = tests.map(({ id, timeSpentMs: ms }) => [id, { ms, hits: mutantCoverage.perTest[id] ?? {} }])
    writeFileSync(KNOWN, JSON.stringify(Object.fromEntries(known)))
    return { status: 'complete', tests, mutantCoverage }
  }

  /** Mutants that each test executes, without the slow tests. */
  #coverage(): Coverage {
    const { perTest = {} } = this.#shared.mutantCoverage ?? {}
    return Object.fromEntries(Object.entries(perTest).filter(([id]) => this.#tests.has(id)))
  }

  async mutantRun({ activeMutant: { id: activeMutant, fileName }, testFilter = [] }: MutantRun): Promise<object> {
    this.#known ??= JSON.parse(readFileSync(KNOWN, 'utf8')) as Known
    const known = this.#known
    let nrOfTests = 0
    let killer: TestEnd | undefined
    let isEndless = false
    const order = (id: string): number => {
      const recent = this.#killers.indexOf(id)
      return recent >= 0 ? recent - MOST_KILLERS : distance(id, fileName) * TIMEOUT_MS + (known[id]?.ms ?? 0)
    }
    for (const id of [...testFilter].sort((a, b) => order(a) - order(b))) {
      const hits = known[id]?.hits[activeMutant] ?? 0
      const hitLimit = Math.min(ENDLESS * (1 + hits), MANY_HITS + 10 * hits)
      Object.assign(this.#shared, { activeMutant, hitCount: 0, hitLimit })
      const end = await this.#run(id)
      nrOfTests++
      isEndless = (this.#shared.hitCount ?? 0) > hitLimit
      if (end.status === FAILED) killer = end
      if (killer || isEndless) break
    }
    await this.#endSuites()
    Object.assign(this.#shared, { activeMutant: undefined, hitCount: undefined })
    if (isEndless) return { status: 'timeout', reason: 'endless loop' }
    if (!killer) return { status: 'survived', nrOfTests }
    const { id } = killer
    this.#killers = [id, ...this.#killers.filter((other) => other !== id)].slice(0, MOST_KILLERS)
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
    } finally {
      this.#restore()
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

  /** Also after a test that did not end. */
  #restore(): void {
    const { useRealTimers: restoreTimers, unstubAllGlobals } = (this.#words as Words).vi
    restoreTimers()
    unstubAllGlobals()
  }

  async #endSuites(): Promise<void> {
    for (const { hooks } of this.#begun) for (const hook of hooks.afterAll) await inTime(call(hook)).catch(() => {})
    this.#begun.clear()
  }
}

/** 0: the test is in the file named after the mutant's file. 1: it is in the folder of that name. 2: it is elsewhere. */
function distance(id: string, fileName: string): 0 | 1 | 2 {
  if (id.includes(`/${basename(fileName, '.ts')}.test.ts#`)) return 0
  const folder = dirname(fileName.slice(fileName.lastIndexOf('/src/') + '/src/'.length))
  return id.startsWith(`test/${folder}/`) ? 1 : 2
}

function urlOf(file: string): string {
  return pathToFileURL(resolve(file)).href
}

/** A hook that throws gives a rejected promise. */
async function call(hook: (context: object) => unknown): Promise<void> {
  await hook({})
}

/** Counts ticks instead of the time: on a busy machine they are late, and a test has longer. */
async function inTime(running: unknown): Promise<void> {
  let ticks = 0
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      ticks++
      if (ticks * TICK_MS >= TIMEOUT_MS) reject(new Error('took too long'))
    }, TICK_MS)
  })
  try {
    await Promise.race([running, late])
  } finally {
    clearInterval(timer)
  }
}

export const strykerPlugins: readonly object[] = [
  { kind: 'TestRunner', name: 'in-process', injectableClass: InProcess },
]

/** Makes the option known to Stryker. */
export const strykerValidationSchema: object = { properties: { inProcess: { type: 'object' } } }

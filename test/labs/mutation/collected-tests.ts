/** Replaces `vitest` for test files: exports its `expect` and `vi`, and versions of `it` and `describe` that only record the tests. */
export { expect, expectTypeOf, vi } from 'vitest'

// `vi` reads these settings of vitest's worker. They are vitest's defaults.
const fakeTimers = { loopLimit: 10_000, shouldClearNativeTimers: true }
Object.assign(globalThis, { __vitest_worker__: { config: { fakeTimers }, metaEnv: process.env } })

type Hook = (context: object) => unknown
type Run = (...args: unknown[]) => unknown
type Add = (name: string, run: Run) => void

/** A `describe`, or a file. */
export interface Suite {
  readonly name: string
  readonly parent: Suite | undefined
  readonly hooks: Readonly<Record<'beforeAll' | 'afterAll' | 'beforeEach' | 'afterEach', Hook[]>>
}

/** An `it`. */
export interface CollectedTest {
  readonly id: string
  readonly file: string
  readonly name: string
  readonly suite: Suite
  readonly run: Run
}

let file = ''
let suite: Suite = newSuite('')
let collected: CollectedTest[] = []
const finishers: Hook[] = []

/** Loads a test file and returns its tests in order. */
export async function collectTests(path: string, load: () => Promise<unknown>): Promise<readonly CollectedTest[]> {
  file = path
  suite = newSuite('')
  collected = []
  await load()
  return collected
}

/** Removes and returns the `onTestFinished` callbacks of the current test. */
export function takeFinishers(): readonly Hook[] {
  return finishers.splice(0)
}

/** The suites that contain a test, outermost first. */
export function suitesOf({ suite: innermost }: CollectedTest): readonly Suite[] {
  const all: Suite[] = []
  for (let at: Suite | undefined = innermost; at; at = at.parent) all.unshift(at)
  return all
}

function newSuite(name: string, parent?: Suite): Suite {
  return { name, parent, hooks: { beforeAll: [], afterAll: [], beforeEach: [], afterEach: [] } }
}

function addSuite(name: string, body: Run): void {
  const outer = suite
  suite = newSuite(name, outer)
  try {
    body()
  } finally {
    suite = outer
  }
}

function addTest(title: string, run: Run): void {
  const test = { id: '', name: '', file, suite, run }
  const names = [...suitesOf(test).map((each) => each.name), title]
  const name = names.filter(Boolean).join(' ')
  const twins = collected.filter((other) => other.name === name).length
  collected.push({ ...test, name, id: `${file}#${name}${twins > 0 ? ` (${twins + 1})` : ''}` })
}

/** `it`, `test` or `describe`. */
interface Word {
  (name: string, ...rest: unknown[]): void
  each(table: readonly unknown[]): (name: string, ...rest: unknown[]) => void
}

interface OpenWord extends Word {
  readonly skip: Word
  skipIf(isSkipped: unknown): Word
}

const none: Word = Object.assign((): void => {}, { each: () => (): void => {} })

function word(add: Add): OpenWord {
  const plain = (name: string, ...rest: unknown[]): void => add(String(name), bodyOf(rest))
  const each: Word['each'] = (table) => {
    const isSpread = table.every((row) => Array.isArray(row))
    return (name, ...rest) => {
      for (const [index, row] of table.entries()) {
        const args = isSpread ? (row as readonly unknown[]) : [row]
        add(titled(name, args, index), () => bodyOf(rest)(...args))
      }
    }
  }
  const open: Word = Object.assign(plain, { each })
  return Object.assign(open, { skip: none, skipIf: (isSkipped: unknown) => (isSkipped ? none : open) })
}

function bodyOf(rest: readonly unknown[]): Run {
  return rest.find((each) => typeof each === 'function') as Run
}

function titled(template: string, args: readonly unknown[], index: number): string {
  let at = 0
  return `${template
    .replace(/%[sdifjoO]/g, () => shown(args[at++]))
    .replace(/\$([\w.]+)/g, (_, path: string) => shown(path.split('.').reduce(memberOf, args[0])))} [${index}]`
}

function memberOf(on: unknown, key: string): unknown {
  return (on as Record<string, unknown> | undefined)?.[key]
}

function shown(value: unknown): string {
  try {
    return typeof value === 'object' ? JSON.stringify(value) : String(value)
  } catch {
    return '?'
  }
}

export const it: OpenWord = word(addTest)
export const test: OpenWord = word(addTest)
export const describe: OpenWord = word(addSuite)
export const beforeAll = (hook: Hook): void => void suite.hooks.beforeAll.push(hook)
export const afterAll = (hook: Hook): void => void suite.hooks.afterAll.push(hook)
export const beforeEach = (hook: Hook): void => void suite.hooks.beforeEach.push(hook)
export const afterEach = (hook: Hook): void => void suite.hooks.afterEach.push(hook)
export const onTestFinished = (hook: Hook): void => void finishers.push(hook)

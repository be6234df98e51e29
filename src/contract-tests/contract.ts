import { bool, fn } from '../options/checks.ts'
import { type Checks, nested, readOptions, required } from '../options/read-options.ts'
import { guarantees } from './assertions.ts'

/** Registers a case with a test runner, such as `test` of vitest, `node:test`, Jest or Bun. */
export type RegisterTest = (name: string, body: () => Promise<void>) => unknown

/** The test runner of a contract. */
export interface ContractOptions {
  /** Called once for each case that is run. */
  readonly test: RegisterTest
  /** Called once for each case that is skipped, with the reason in its name: `test.skip`. Default: `test`, with an empty body. */
  readonly skip?: RegisterTest
}

/** An empty store for one case. Nothing else may write to it. */
export interface StoreTrial<Store> {
  readonly store: Store
  /** A second handle on the same data, as another process has it. Omit it where the store has only one. */
  readonly other?: Store
  /** The store's time, epoch milliseconds. */
  now(): number
  /** Moves the store's time forward. */
  advance(ms: number): void | Promise<void>
  /**
   * Closes all handles, and opens the same data again, as a process does that starts after all others have ended. `close`
   * releases this handle too. Omit it where the data does not outlive its handles.
   */
  reopen?(): Store | Promise<Store>
  /** Releases the store after the case, also when the case failed. */
  close?(): void | Promise<void>
}

/** What a store can do. A case that needs more is skipped. */
export interface StoreCapabilities {
  /** There is an `other` handle. Default: `true`. */
  readonly secondHandle?: boolean
  /** The data outlives its handles: there is a `reopen`. Default: `false`. */
  readonly durable?: boolean
}

/** One guarantee, and the test of it. */
export interface ContractCase<Trial, Capabilities = StoreCapabilities> {
  /** The guarantee as a sentence. A failure repeats it. */
  readonly name: string
  /** The capabilities that the case needs. */
  readonly needs?: readonly (keyof Capabilities)[]
  run(trial: Trial): Promise<void>
}

/** Guarantees as sentences, each with its test. */
export type CaseTable<Trial> = Readonly<Record<string, (trial: Trial) => Promise<void>>>

/** The cases of a table, all of which need these capabilities. */
export function casesOf<Trial, Capabilities>(
  needs: readonly (keyof Capabilities)[],
  table: CaseTable<Trial>,
): readonly ContractCase<Trial, Capabilities>[] {
  return Object.entries(table).map(([name, run]) => ({ name, needs, run }))
}

/** The kind of thing that a contract tests, and the defaults of its capabilities. */
export interface ContractSubject<Capabilities> {
  readonly name: string
  readonly defaults: Required<Capabilities>
}

/** The subject of the store contracts. */
export const STORE: ContractSubject<StoreCapabilities> = {
  name: 'store',
  defaults: { secondHandle: true, durable: false },
}

/** Options of a contract of any kind. */
interface TrialOptions<Trial, Capabilities> extends ContractOptions {
  readonly create: () => Trial | Promise<Trial>
  readonly capabilities?: Capabilities
}

/**
 * Registers the cases of a contract, each with its own trial. The message of a failure begins with the broken guarantee.
 *
 * @throws {SallyportError} `option_invalid`, with all problems of the options.
 */
export function registerCases<Trial extends { close?(): void | Promise<void> }, Capabilities extends object>(
  contract: string,
  subject: ContractSubject<Capabilities>,
  cases: readonly ContractCase<Trial, Capabilities>[],
  options: TrialOptions<Trial, Capabilities>,
): void {
  const { test, create, capabilities, ...others } = readOptions(contract, options, checksOf(subject))
  const { skip = (name) => test(name, async () => {}) } = others
  for (const { name, needs = [], run } of cases) {
    const lacking = needs.find((need) => !(capabilities?.[need] ?? subject.defaults[need]))
    if (lacking !== undefined) {
      skip(`${name} (skipped: the ${subject.name} declares no ${String(lacking)})`, async () => {})
      continue
    }
    test(name, async () => {
      const trial = await create()
      try {
        await guarantees(name, () => run(trial))
      } finally {
        await trial.close?.()
      }
    })
  }
}

function checksOf<Trial, Capabilities extends object>({
  defaults,
}: ContractSubject<Capabilities>): Checks<TrialOptions<Trial, Capabilities>> {
  const switches = Object.fromEntries(Object.keys(defaults).map((name) => [name, bool]))
  return { test: required(fn), skip: fn, create: required(fn), capabilities: nested(switches) }
}

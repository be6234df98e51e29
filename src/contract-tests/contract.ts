import { bool, fn } from '../options/checks.ts'
import { type Checks, nested, readOptions, required } from '../options/read-options.ts'
import { guarantees } from './assertions.ts'

/** Registers a case with a test runner, such as `test` of vitest, `node:test`, Jest or Bun. */
export type RegisterTest = (name: string, body: () => Promise<void>) => unknown

/** The test runner of a contract. */
export interface ContractOptions {
  /** Called once for each case that runs. */
  readonly test: RegisterTest
  /** Called once for each skipped case, with the reason in its name: `test.skip`. Default: `test` with an empty body. */
  readonly skip?: RegisterTest
}

/** An empty store for one case. No other code may write to it. */
export interface StoreTrial<Store> {
  readonly store: Store
  /** A second handle on the same data, as in another process. Omit it if the store has only one. */
  readonly other?: Store
  /** The store's time in epoch milliseconds. */
  now(): number
  /** Moves the store's time forward. */
  advance(ms: number): void | Promise<void>
  /**
   * Closes all handles and opens the same data again, as a process that starts after all others have ended. `close` releases this handle
   * too. Omit it if the data does not outlive its handles.
   */
  reopen?(): Store | Promise<Store>
  /** Releases the store after the case, also after a failure. */
  close?(): void | Promise<void>
}

/** Capabilities of a store. Cases that need a missing one are skipped. */
export interface StoreCapabilities {
  /** `other` exists. Default: `true`. */
  readonly secondHandle?: boolean
  /** The data outlives its handles, and `reopen` exists. Default: `false`. */
  readonly durable?: boolean
}

export interface ContractCase<Trial, Capabilities = StoreCapabilities> {
  /** The guarantee as a sentence. A failure repeats it. */
  readonly name: string
  readonly needs?: readonly (keyof Capabilities)[]
  run(trial: Trial): Promise<void>
}

/** Guarantees as sentences, each with its test. */
export type CaseTable<Trial> = Readonly<Record<string, (trial: Trial) => Promise<void>>>

export function casesOf<Trial, Capabilities>(
  needs: readonly (keyof Capabilities)[],
  table: CaseTable<Trial>,
): readonly ContractCase<Trial, Capabilities>[] {
  return Object.entries(table).map(([name, run]) => ({ name, needs, run }))
}

export interface ContractSubject<Capabilities> {
  readonly name: string
  readonly defaults: Required<Capabilities>
}

export const STORE: ContractSubject<StoreCapabilities> = {
  name: 'store',
  defaults: { secondHandle: true, durable: false },
}

interface TrialOptions<Trial, Capabilities> extends ContractOptions {
  readonly create: () => Trial | Promise<Trial>
  readonly capabilities?: Capabilities
}

/**
 * Registers the cases of a contract, each with its own trial. A failure message begins with the broken guarantee.
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

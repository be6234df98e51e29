import { bool, fn } from '../options/checks.ts'
import { type Checks, nested, readOptions, required } from '../options/read-options.ts'

/** Registers a case with a test runner: `test` of vitest, of `node:test`, of Jest and of Bun is one. */
export type RegisterTest = (name: string, body: () => Promise<void>) => unknown

/** How a contract is tried. */
export interface ContractOptions {
  /** Given every case that is tried. */
  readonly test: RegisterTest
  /** Given every case that is not, with the reason in its name: `test.skip`. Default: `test`, with a body that does nothing. */
  readonly skip?: RegisterTest
}

/** A store that one case is tried on: nobody else has what it keeps. */
export interface StoreTrial<Store> {
  readonly store: Store
  /** A second handle on the same data, as another process has it. Left out where there can be none. */
  readonly other?: Store
  /** The store's time, epoch milliseconds. */
  now(): number
  /** Moves the store's time on. */
  advance(ms: number): void | Promise<void>
  /**
   * Closes the handles that there are, and opens the same data anew, as a process does that starts when all others have ended.
   * `close` lets go of this handle too. Left out where nothing is kept for so long.
   */
  reopen?(): Store | Promise<Store>
  /** Lets go of it when the case is over, however it ended. */
  close?(): void | Promise<void>
}

/** What a store is said to be able to do: a case that needs what it cannot is skipped. */
export interface StoreCapabilities {
  /** There is an `other` handle. Default: `true`. */
  readonly secondHandle?: boolean
  /** What it keeps outlives its handles: there is a `reopen`. Default: `false`. */
  readonly durable?: boolean
}

/** One sentence of a contract, and how it is tried. */
export interface ContractCase<Trial, Capabilities = StoreCapabilities> {
  readonly name: string
  /** The capabilities without which it cannot be tried. */
  readonly needs?: readonly (keyof Capabilities)[]
  run(trial: Trial): Promise<void>
}

/** What contracts are about, and what is taken for granted where a capability is not declared. */
export interface ContractSubject<Capabilities> {
  readonly name: string
  readonly defaults: Required<Capabilities>
}

/** The stores of either port. */
export const STORE: ContractSubject<StoreCapabilities> = {
  name: 'store',
  defaults: { secondHandle: true, durable: false },
}

/** How one contract is tried on what it is about. */
interface Tried<Trial, Capabilities> extends ContractOptions {
  readonly create: () => Trial | Promise<Trial>
  readonly capabilities?: Capabilities
}

/**
 * Registers the cases of a contract, each with a trial of its own.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong with the options.
 */
export function registerCases<Trial extends { close?(): void | Promise<void> }, Capabilities extends object>(
  contract: string,
  subject: ContractSubject<Capabilities>,
  cases: readonly ContractCase<Trial, Capabilities>[],
  options: Tried<Trial, Capabilities>,
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
        await run(trial)
      } finally {
        await trial.close?.()
      }
    })
  }
}

function checksOf<Trial, Capabilities extends object>({
  defaults,
}: ContractSubject<Capabilities>): Checks<Tried<Trial, Capabilities>> {
  const switches = Object.fromEntries(Object.keys(defaults).map((name) => [name, bool]))
  return { test: required(fn), skip: fn, create: required(fn), capabilities: nested(switches) }
}

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
  /** Lets go of it when the case is over, however it ended. */
  close?(): void | Promise<void>
}

/** What a store is said to be able to do: a case that needs what it cannot is skipped. */
export interface StoreCapabilities {
  /** There is an `other` handle. Default: `true`. */
  readonly secondHandle?: boolean
}

/** One sentence of a contract, and how it is tried. */
export interface ContractCase<Trial> {
  readonly name: string
  /** The capability without which it cannot be tried. */
  readonly needs?: keyof StoreCapabilities
  run(trial: Trial): Promise<void>
}

/** Registers the cases of a contract, each with a trial of its own. */
export function registerCases<Trial extends { close?(): void | Promise<void> }>(
  { test, skip = (name) => test(name, async () => {}) }: ContractOptions,
  cases: readonly ContractCase<Trial>[],
  create: () => Trial | Promise<Trial>,
  capabilities: StoreCapabilities = {},
): void {
  for (const { name, needs, run } of cases) {
    if (needs !== undefined && capabilities[needs] === false) {
      skip(`${name} (skipped: the store declares no ${needs})`, async () => {})
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

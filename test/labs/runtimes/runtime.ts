import type { CheckGroup } from './checks/check.ts'
import type { Names } from './checks/entries.ts'
import type { Secrets, Target } from './target.ts'

/** What every runtime is given. */
export interface Site {
  /** A project with the packed package in it, and the programs of `hosts/`. */
  readonly project: string
  /** Where runtimes are put that were fetched. */
  readonly tenantIndexes: string
  readonly secrets: Secrets
  readonly names: Names
}

/** A runtime that runs. */
export interface Running {
  readonly visits: readonly Visit[]
  /** What it has written as errors. */
  errors?(): string
  close(): Promise<void>
}

/** What is to be held against one target. */
export interface Visit {
  readonly target: Target
  readonly groups: readonly CheckGroup[]
}

/** Something that runs JavaScript. */
export interface Runtime {
  readonly name: string
  /** @throws {NotFetched} The registry does not have it for this machine. */
  open(site: Site): Promise<Running>
}

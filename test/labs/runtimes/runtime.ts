import type { CheckGroup } from './checks/check.ts'
import type { Names } from './checks/entries.ts'
import type { Secrets, Target } from './target.ts'

/** The input of every runtime. */
export interface Site {
  /** A project with the packed package and the programs of `hosts/`. */
  readonly project: string
  /** Folder for fetched runtimes. */
  readonly cache: string
  readonly secrets: Secrets
  readonly names: Names
}

/** A running runtime. */
export interface Running {
  readonly visits: readonly Visit[]
  /** Its error output. */
  errors?(): string
  close(): Promise<void>
}

/** The checks for one target. */
export interface Visit {
  readonly target: Target
  readonly groups: readonly CheckGroup[]
}

/** A JavaScript runtime. */
export interface Runtime {
  readonly name: string
  /** @throws {NotFetched} The registry does not have it for this machine. */
  open(site: Site): Promise<Running>
}

import type { ComponentChildren } from 'preact'
import type { DeliveryView } from '../../model/dispatch.ts'
import type { Redacted } from './redacted.ts'

/** A section of the console: a link in the navigation, and the screens of its paths. */
export interface Section {
  /** First part of its paths; empty for the screen that opens first. */
  readonly path: string
  readonly label: string
  /** Name of the read that it needs: a host without it does not show the link. */
  readonly read: string
  /** The navigation shows sections in ascending order. */
  readonly order: number
  /** Gives the screen for the other parts of a path. */
  readonly screen: (...parts: readonly string[]) => ComponentChildren
}

/** Screens of a plugin, and what it adds to screens of the core. `console/screens.tsx` in its folder exports them. */
export interface PluginScreens {
  readonly sections?: readonly Section[]
  /** A hook: adds to the screen of a session, and to the runs of a user. */
  readonly useRuns?: (of: RunsOf) => Addition
  /** Adds to a delivery on the screen of its dispatch. */
  readonly delivery?: (of: Redacted<DeliveryView>) => ComponentChildren
}

/** Runs of a session or of a user. Without both: a list of other runs, to which nothing is added. */
export interface RunsOf {
  readonly sessionId?: string
  readonly userId?: string | undefined
}

export interface Addition {
  /** False until it is read. A screen waits for it, so that nothing moves later. */
  readonly isReady: boolean
  readonly shown: ComponentChildren
}

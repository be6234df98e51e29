import type { SallyportStore } from '../../src/index.ts'
import type { Plugin } from '../../src/plugins/plugin.ts'

/** A plugin for tests that take every plugin there is. */
export interface PluginSample {
  /** Creates it with all of its endpoints. Options replace those of the sample. */
  create(options?: object): Plugin
  /** Stores what it keeps of a recipient, in a host that has it. Absent: it keeps nothing. */
  keep?(kept: Kept): Promise<void>
}

/** Whose data a plugin stores in a host. */
export interface Kept {
  readonly sallyport: object
  readonly store: SallyportStore
  readonly tenant: string
  readonly recipient: string
  /** A delivery by mail to the recipient. */
  readonly deliveryId: string
  /** A text for members that callers choose. */
  readonly text: string
}

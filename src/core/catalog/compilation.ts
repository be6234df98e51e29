import type { ConfigProblem } from '../../errors.ts'
import type { EventFacts } from '../../ports/event-catalog.ts'
import { nearNames } from '../near-names.ts'
import type { EventEngines } from './event-definition.ts'

/** What the compiling of a catalogue has at hand. With any problem, nothing that was compiled is used. */
export interface Compilation {
  readonly engines: EventEngines
  /** What is wrong so far. */
  readonly problems: ConfigProblem[]
}

/** Where in a catalogue something stands. */
export type Place = Pick<ConfigProblem, 'event' | 'channel' | 'field'>

/** {@link EventFacts} as engines take them. No interface, since that could not be read by any key. */
export type OpenFacts = Pick<EventFacts, keyof EventFacts>

/** Whether a definition is an object with keys: its type may say so, and a caller not heed it. */
export function isRecord(definition: unknown): boolean {
  return typeof definition === 'object' && definition !== null && !Array.isArray(definition)
}

/** What is wrong with a number: `undefined` when it is whole and in its range. */
export function numberFault(value: number, [least, greatest]: readonly [number, number]): string | undefined {
  if (Number.isInteger(value) && value >= least && value <= greatest) return undefined
  return `must be a whole number from ${least} to ${greatest}`
}

/** The names near to one that is not there, to be put after what is said of it. */
export function near(name: string, names: readonly string[]): string {
  const found = nearNames(name, names)
  return found.length > 0 ? `; near: ${found.join(', ')}` : ''
}

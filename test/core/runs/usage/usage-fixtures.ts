import { type Fixture, PUBLISHED } from './usage-fixtures-published.ts'
import { TYPED } from './usage-fixtures-typed.ts'

/** Every usage object that is known, by whoever tells it. */
export const FIXTURES: readonly Fixture[] = [...TYPED, ...PUBLISHED]

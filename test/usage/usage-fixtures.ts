import { PLATFORMS } from './usage-fixtures-platforms.ts'
import { type Fixture, PUBLISHED } from './usage-fixtures-published.ts'
import { TYPED } from './usage-fixtures-typed.ts'

/** Every usage object of a known shape. */
export const FIXTURES: readonly Fixture[] = [...TYPED, ...PUBLISHED, ...PLATFORMS]

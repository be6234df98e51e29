import { BATCH_CASES, BODY_CASES } from './body-cases.ts'
import { ENGINE_CASES } from './engine-cases.ts'
import type { LoopCases } from './loop-case.ts'
import { PATTERN_CASES } from './pattern-cases.ts'
import { WORD_CASES } from './word-cases.ts'

/** Everything hostile that the loop is to bear, by its name. */
export const CASES: LoopCases = { ...BODY_CASES, ...BATCH_CASES, ...ENGINE_CASES, ...WORD_CASES, ...PATTERN_CASES }

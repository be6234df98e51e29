import { BATCH_CASES, BODY_CASES, FIRST_CASES } from './body-cases.ts'
import { ENGINE_CASES } from './engine-cases.ts'
import { FEEDBACK_CASES } from './feedback-cases.ts'
import type { LoopCases } from './loop-case.ts'
import { PATTERN_CASES } from './pattern-cases.ts'
import { WORD_CASES } from './word-cases.ts'

/** All hostile cases by name: the kind, a colon, and the content. */
export const CASES: LoopCases = {
  ...FIRST_CASES,
  ...BODY_CASES,
  ...BATCH_CASES,
  ...ENGINE_CASES,
  ...FEEDBACK_CASES,
  ...named('text', WORD_CASES),
  ...named('pattern', PATTERN_CASES),
}

function named(kind: string, cases: LoopCases): LoopCases {
  return Object.fromEntries(Object.entries(cases).map(([name, made]) => [`${kind}: ${name}`, made]))
}

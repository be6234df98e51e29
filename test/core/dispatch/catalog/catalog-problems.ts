import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { EventEngines } from '../../../../src/core/dispatch/catalog/event-definition.ts'
import { type ConfigProblem, isSallyportError } from '../../../../src/errors.ts'

/** The problems of definitions of any type. */
export function problems(definitions: unknown, engines?: EventEngines): readonly ConfigProblem[] {
  try {
    defineEvents(definitions as Record<string, never>, engines)
  } catch (error) {
    if (isSallyportError(error) && error.code === 'events_invalid') return error.problems
    throw error
  }
  return []
}

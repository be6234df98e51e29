import { PLUGIN_SCREENS } from './plugin-screens.ts'
import type { Addition, RunsOf } from './section.ts'

/** Additions of all plugins to a screen of runs. */
export function useAdditions(of: RunsOf): readonly Addition[] {
  // biome-ignore lint/correctness/useHookAtTopLevel: the list is fixed, and so is the order of its hooks.
  return PLUGIN_SCREENS.flatMap(({ useRuns }) => useRuns?.(of) ?? [])
}

import { PLUGIN_OPTIONS } from '../plugins/options.ts'
import { HOST_ROWS } from './host-rows.ts'
import type { OptionRow } from './option-rows.ts'
import { PART_ROWS } from './part-rows.ts'

/** The calls whose options are tested here. Those of the others are tested with their file, by `testOptions`. */
export const ROWS: readonly OptionRow[] = [...HOST_ROWS, ...PLUGIN_OPTIONS.flatMap(({ rows }) => rows), ...PART_ROWS]

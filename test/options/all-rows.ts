import { CONSENT_ROWS } from './consent-rows.ts'
import { HOST_ROWS } from './host-rows.ts'
import type { OptionRow } from './option-rows.ts'
import { PART_ROWS } from './part-rows.ts'

/** All rows. */
export const ROWS: readonly OptionRow[] = [...HOST_ROWS, ...CONSENT_ROWS, ...PART_ROWS]

export function nameOf({ call, type, at }: OptionRow): string {
  return `${call}, ${type}${at === undefined ? '' : ` at ${at}`}`
}

import type { Dialect } from './dialects.ts'

/** Whether a text has a part, as SQL. */
export function contains(text: string, part: string, { name }: Dialect): string {
  return `${name === 'postgresql' ? 'strpos' : 'instr'}(${text}, ${part}) > 0`
}

import type { Issue } from '../../errors.ts'

/** Limits of a log line or a message: number of faults, and characters of each pointer and each detail. */
const MAX_ERRORS = 10
const MAX_TEXT = 200

/** Lists places and faults without values: `/eventData/x: is required, /eventData/y/…: expected number`. */
export function listErrors(errors: readonly Issue[]): string {
  const places = errors
    .slice(0, MAX_ERRORS)
    .map(({ pointer, detail }) => `${cutPointer(pointer) || 'the body'}: ${detail.slice(0, MAX_TEXT)}`)
  return places.join(', ')
}

/** Cuts a pointer to the names that the host chose: deeper keys may be private, such as those of a run's metadata. */
function cutPointer(pointer: string): string {
  const [root, first, second, ...descendants] = pointer.split('/')
  if (second === undefined) return pointer.slice(0, MAX_TEXT)
  return `${root}/${first}/${second.slice(0, MAX_TEXT)}${descendants.length > 0 ? '/…' : ''}`
}

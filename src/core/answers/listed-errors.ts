import type { Issue } from '../../errors.ts'

/** Limits of a log line or a message: number of faults, and characters of each pointer. */
const MAX_ERRORS = 10
const MAX_POINTER = 200

/** Lists places and codes without values: `/eventData/x required, /eventData/y/… invalid`. */
export function listErrors(errors: readonly Issue[]): string {
  const places = errors.slice(0, MAX_ERRORS).map(({ pointer, code }) => `${cutPointer(pointer)} ${code}`)
  return places.join(', ')
}

/** Cuts a pointer to the names that the host chose: deeper keys may be private, such as those of a run's metadata. */
function cutPointer(pointer: string): string {
  const [root, first, second, ...descendants] = pointer.split('/')
  if (second === undefined) return pointer.slice(0, MAX_POINTER)
  return `${root}/${first}/${second.slice(0, MAX_POINTER)}${descendants.length > 0 ? '/…' : ''}`
}

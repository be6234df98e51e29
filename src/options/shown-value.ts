/** Names the kind of a value, for messages. Never repeats it. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return `${value}`
  if (value === '') return 'an empty string'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : `an array of ${value.length}`
  if (value instanceof Promise) return 'a promise'
  return `${typeof value === 'object' ? 'an' : 'a'} ${typeof value}`
}

/** Repeats a number or a boolean, and names the kind of other values: for options that hold no secret. */
export function shown(value: unknown): string {
  return typeof value === 'number' || typeof value === 'boolean' ? `${value}` : kindOf(value)
}

const NAME = /^[\w.:/+-]{1,40}$/
/** Beginnings of common secrets, and long names with a digit: an option may get a secret that was meant for another. */
const SECRET = /^(?:sp_|sk|rk_|pk|wh|gh|gl|xox|key|eyj|akia|bearer)|^(?=.*\d).{21}/i

/** {@link shown}, and repeats a short name: for options whose values are a closed list, such as time zones. */
export function shownName(value: unknown): string {
  return typeof value === 'string' && NAME.test(value) && !SECRET.test(value) ? `"${value}"` : shown(value)
}

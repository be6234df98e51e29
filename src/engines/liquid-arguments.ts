import { TypeGuards } from 'liquidjs'

/** Least and most arguments of the filters that take any. */
const ARGUMENTS: Readonly<Record<string, readonly [least: number, most: number]>> = {
  append: [1, 1],
  prepend: [1, 1],
  truncate: [0, 2],
  truncatewords: [0, 2],
  remove: [1, 1],
  remove_first: [1, 1],
  replace: [1, 2],
  replace_first: [1, 2],
  split: [1, 1],
  at_least: [1, 1],
  at_most: [1, 1],
  divided_by: [1, 1],
  minus: [1, 1],
  modulo: [1, 1],
  plus: [1, 1],
  round: [0, 1],
  times: [1, 1],
  concat: [1, 1],
  default: [1, 1],
  join: [0, 1],
  map: [1, 1],
  slice: [1, 2],
  sort: [0, 1],
  sum: [0, 1],
  where: [1, 2],
  date: [0, 2],
}

const OPTIONS: Readonly<Record<string, string>> = { default: 'allow_false' }
/** Filters whose first argument is a path in each element. */
export const BY_PROPERTY: readonly string[] = ['map', 'sort', 'sum', 'where']

/** Refuses arguments that the library would ignore, and filters that lack one. @param args As parsed; an option is an array. */
export function argumentFault(filter: string, args: readonly unknown[]): string | undefined {
  const option = args.find(Array.isArray)?.[0]
  if (option !== undefined && OPTIONS[filter] !== option) return `The filter "${filter}" has no option "${option}".`
  if (option !== undefined && !Array.isArray(args.at(-1)))
    return `The options of the filter "${filter}" follow its arguments.`
  const given = args.filter((arg) => !Array.isArray(arg))
  const [least, most] = ARGUMENTS[filter] ?? [0, 0]
  if (given.length < least || given.length > most) {
    const range = least === most ? most || 'no' : `${least} to ${most}`
    return `The filter "${filter}" takes ${range} ${most === 1 && least === 1 ? 'argument' : 'arguments'}, not ${given.length}.`
  }
  const [first] = given
  if (BY_PROPERTY.includes(filter) && TypeGuards.isQuotedToken(first) && /[[\]]/.test(first.content))
    return `The filter "${filter}" takes a path of names such as "address.city", without brackets.`
  return undefined
}

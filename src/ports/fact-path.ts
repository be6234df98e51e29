/**
 * Names from the facts down to a value, such as `['data', 'lines', 0, 'name']`. A number is an element of a list, and each number
 * means every element. Elements can also be named by text: an index such as `'0'`, `first` or `last`.
 */
export type FactPath = readonly (string | number)[]

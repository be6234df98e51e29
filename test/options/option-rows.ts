/** A call that takes options, and what none of them may be. `null` and misspelt names are tried of all, `undefined` of what is required. */
export interface OptionRow {
  /** As `entry name`, or the path of a method: `sallyport runs.list`. */
  readonly call: string
  /** The exported type of the options; after it, the members that lead to options within them. */
  readonly type: string
  /** Options with nothing wrong. */
  readonly good: object
  /** Values of a wrong type or out of range, by option: for every option of the type. */
  readonly bad: Readonly<Record<string, readonly unknown[]>>
  /** Where the options of that type are, within those of the call. */
  readonly at?: string
  /** What precedes the names of options in fields. Default: `at` and a dot. */
  readonly fields?: string
  /** Options of which the type also takes `null`, or any value. */
  readonly anything?: readonly string[]
  /** Any name is an option: none can be unknown. */
  readonly open?: true
  /** A name that is near to none is not repeated: this is said instead. */
  readonly foreign?: string
  run(options: never): unknown
}

type Bad = OptionRow['bad']

/** A row of the table. */
export function row<Options extends object>(
  call: string,
  type: string,
  run: (options: Options) => unknown,
  good: NoInfer<Options>,
  bad: Bad,
  more: Partial<Pick<OptionRow, 'at' | 'fields' | 'anything' | 'open' | 'foreign'>> = {},
): OptionRow {
  return { call, type, run, good, bad, ...more }
}

export const FLAG: readonly unknown[] = ['yes', 1, {}]
export const FUNCTION: readonly unknown[] = ['f', 1, {}]
export const TEXT: readonly unknown[] = [7, {}, []]
export const OBJECT: readonly unknown[] = ['x', 7, []]
export const PART: readonly unknown[] = ['x', 7, {}, () => ({})]

/** A list of one item, which is absent. */
export const HOLE: readonly unknown[] = new Array(1)
/** What names nothing that any store keeps. */
export const UNSTORABLE: readonly unknown[] = [...TEXT, '', 'a\0b', '\ud800', 'x'.repeat(2_049)]

/** Values that are not whole numbers from the least to the greatest. */
export function outside(least: number, greatest: number): readonly unknown[] {
  const numbers = [least - 1, greatest + 1, least + 0.5, Number.NaN, Number.POSITIVE_INFINITY]
  return [...numbers, String(least), {}, Object.create(null), Symbol('1'), [Symbol('1')]]
}

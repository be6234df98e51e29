/**
 * A call that takes options, with invalid values for each option. Every option is also tested with `null` and a
 * misspelt name, and required ones with `undefined`.
 */
export interface OptionRow {
  /** `entry name`, or the path of a method: `sallyport runs.list`. */
  readonly call: string
  /** The exported type of the options, and members that lead to nested options. */
  readonly type: string
  /** Valid options. */
  readonly good: object
  /** Invalid values for every option of the type. */
  readonly bad: Readonly<Record<string, readonly unknown[]>>
  /** Path of these options within those of the call. */
  readonly at?: string
  /** Prefix of the option names in reported fields. Default: `at` and a dot. */
  readonly fields?: string
  /** Options whose type also includes `null`, or any value. */
  readonly anything?: readonly string[]
  /** Every name is an option, and none can be unknown. */
  readonly open?: true
  /** The message for a name without a suggestion. */
  readonly foreign?: string
  run(options: never): unknown
}

/** Options of one plugin, for the table of options. */
export interface PluginOptionRows {
  readonly rows: readonly OptionRow[]
  /** Its functions without an options object, with the reason. */
  readonly withoutOptions?: Readonly<Record<string, string>>
}

type Bad = OptionRow['bad']

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

/** Invalid values for a text that may not be empty. */
export const WORD: readonly unknown[] = [...TEXT, '']

/** A list with one missing item. */
export const HOLE: readonly unknown[] = new Array(1)
/** Values that no store can keep as a name. */
export const UNSTORABLE: readonly unknown[] = [...TEXT, '', 'a\0b', '\ud800', 'x'.repeat(2_049)]

/** Values that are not whole numbers from `least` to `greatest`. */
export function outside(least: number, greatest: number): readonly unknown[] {
  const numbers = [least - 1, greatest + 1, least + 0.5, Number.NaN, Number.POSITIVE_INFINITY]
  return [...numbers, String(least), {}, Object.create(null), Symbol('1'), [Symbol('1')]]
}

/** Invalid values for an id. */
export const ID: readonly unknown[] = [...TEXT, '', 'a b', 'x'.repeat(201)]
/** Invalid values for the delays of retries. */
export const SCHEDULE: readonly unknown[] = [5, [2, 1], [-1], [0.5], ['1'], [Number.NaN], HOLE]
/** Invalid values for a time-out. */
export const TIMEOUT: readonly unknown[] = outside(1, 3_600_000)

/** Generates ids of dispatches (`dsp`), deliveries (`dlv`), requests (`req`) and uses of tokens (`use`). */
export interface IdGenerator {
  /** Returns a new id `<prefix>_<rest>` of visible ASCII, unique over all machines. */
  next(prefix: 'dsp' | 'dlv' | 'req' | 'use'): string
}

/** Generates ids of dispatches (`dsp`), deliveries (`dlv`) and requests (`req`). */
export interface IdGenerator {
  /** A new id `<prefix>_<rest>` of visible ASCII, unique over all machines. */
  next(prefix: 'dsp' | 'dlv' | 'req'): string
}

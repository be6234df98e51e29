/** Makes the ids of dispatches (`dsp`), deliveries (`dlv`) and requests (`req`). */
export interface IdGenerator {
  /** A new id, `<prefix>_<rest>`, of visible ASCII; no two are ever equal, on any machine. */
  next(prefix: 'dsp' | 'dlv' | 'req'): string
}

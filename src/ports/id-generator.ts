/** Generates ids of dispatches (`dsp`), deliveries (`dlv`), requests (`req`), uses of tokens (`use`), approvals (`apv`), counters (`cnt`) and workers (`wrk`). */
export interface IdGenerator {
  /** Returns a new id `<prefix>_<rest>` of visible ASCII, unique over all machines. */
  next(prefix: 'dsp' | 'dlv' | 'req' | 'use' | 'apv' | 'cnt' | 'wrk'): string
}

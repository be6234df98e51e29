/**
 * Settles as the work does, unless the signal aborts (rejects with its reason) or the time is up (rejects with `late`, or resolves where
 * there is none) before that. The work is told to stop by then. Leaves no timer and no listener behind.
 */
export function withTimeout<Result>(
  ms: number,
  signal: AbortSignal | undefined,
  work?: (stop: AbortSignal) => Promise<Result>,
  late?: Error,
): Promise<Result> {
  const stop = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  return new Promise<Result>((resolve, reject) => {
    signal?.throwIfAborted()
    signal?.addEventListener('abort', () => reject(signal.reason), { signal: stop.signal })
    timer = setTimeout(late ? reject : (resolve as () => void), ms, late)
    work?.(stop.signal).then(resolve, reject)
  }).finally(() => {
    clearTimeout(timer)
    stop.abort()
  })
}

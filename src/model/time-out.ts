export interface TimeoutOptions<Late = never> {
  readonly ms: number
  /** Starts the timer: a `Clock`. `after` returns the function that cancels it. */
  readonly clock: { after(ms: number, run: () => void, keepAlive: 'keepAlive'): () => void }
  readonly signal?: AbortSignal | undefined
  /** Returns the result when the time is over. Default: throws a `TimeoutError`, as `AbortSignal.timeout` does. */
  readonly fallback?: () => Late | Promise<Late>
}

/** Waits for `work`, at most `ms` milliseconds. The work is not cancelled: it may complete later; its rejection is ignored. */
export async function withTimeout<T, Late = never>(
  work: PromiseLike<T>,
  { ms, clock, signal, fallback = timeOut }: TimeoutOptions<Late>,
): Promise<T | Late> {
  let cancelTimer = (): void => {}
  let abort = (): void => {}
  const late = new Promise<void>((resolve, reject) => {
    abort = () => reject(signal?.reason)
    cancelTimer = clock.after(ms, resolve, 'keepAlive')
  }).then(fallback)
  signal?.addEventListener('abort', abort)
  if (signal?.aborted) abort()
  try {
    return await Promise.race([late, work])
  } finally {
    cancelTimer()
    signal?.removeEventListener('abort', abort)
  }
}

function timeOut(): never {
  throw new DOMException('No result in time', 'TimeoutError')
}

import type { ProcessLike } from './run-recorder-options.ts'

const EVENTS = ['SIGTERM', 'SIGINT', 'beforeExit'] as const

/** Ends with a process. Gives what takes that back. */
export function endWithProcess(process: ProcessLike, end: () => Promise<unknown>): () => void {
  const stop = (): void => {
    for (const event of EVENTS) process.off(event, onEnd)
  }
  const onEnd = async (signal: unknown): Promise<void> => {
    await end()
    stop()
    if (typeof signal === 'string' && !process.listenerCount(signal)) process.kill(process.pid, signal)
  }
  for (const event of EVENTS) process.on(event as 'SIGTERM', onEnd)
  return stop
}

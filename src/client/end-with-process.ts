import type { ProcessLike } from './run-recorder-options.ts'

/** Ends with a process. Gives what takes that back. */
export function endWithProcess(process: ProcessLike, end: () => Promise<unknown>): () => void {
  const onEnd = async (signal: unknown): Promise<void> => {
    await end()
    if (typeof signal === 'string' && !process.listenerCount(signal)) process.kill(process.pid, signal)
  }
  const each = (method: 'on' | 'off'): void => {
    for (const event of ['SIGTERM', 'SIGINT', 'beforeExit']) process[method](event as 'SIGTERM', onEnd)
  }
  each('on')
  return () => each('off')
}

import { ignoringErrors } from './untyped.ts'

/** Observes a stream. Its errors are ignored. */
export interface StreamObserver<Chunk> {
  /** Receives each chunk before the reader does. */
  see(chunk: Chunk): void
  /** Called once, when the stream ended, failed (with its error) or was cancelled. */
  end(error?: unknown): void
}

/**
 * Passes a stream on at the reader's pace; cancelling it cancels the source. Returns `undefined` and calls `end` if there is no readable
 * stream.
 */
export function watchedStream<Chunk>(
  source: ReadableStream<Chunk> | null | undefined,
  observer: StreamObserver<Chunk>,
): ReadableStream<Chunk> | undefined {
  let hasEnded = false
  const end = (error?: unknown): void => {
    if (hasEnded) return
    hasEnded = true
    ignoringErrors(() => observer.end(error))
  }
  if (typeof source?.getReader !== 'function' || source.locked) {
    end()
    return undefined
  }
  const reader = source.getReader()
  // The source may fail without a reader, for example if its request aborts.
  reader.closed.catch(end)
  return new ReadableStream<Chunk>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          end()
          return controller.close()
        }
        ignoringErrors(() => observer.see(value))
        controller.enqueue(value)
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

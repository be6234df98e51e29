import { ignoringErrors } from './untyped.ts'

/** What looks on while somebody reads. What it throws is ignored: it must not break what it looks at. */
export interface Onlooker<Chunk> {
  /** Each chunk, before the reader has it. */
  see(chunk: Chunk): void
  /** The stream ended, failed (with its error), or was cancelled: told once. */
  end(error?: unknown): void
}

/**
 * Gives out a stream chunk by chunk as it is read, and no sooner: nothing is read ahead, nothing is kept, a cancelled reader
 * cancels the source. `undefined`, and at its end: there is no stream, or somebody else reads it.
 */
export function watchedStream<Chunk>(
  source: ReadableStream<Chunk> | null | undefined,
  onlooker: Onlooker<Chunk>,
): ReadableStream<Chunk> | undefined {
  let hasEnded = false
  const end = (error?: unknown): void => {
    if (hasEnded) return
    hasEnded = true
    ignoringErrors(() => onlooker.end(error))
  }
  if (typeof source?.getReader !== 'function' || source.locked) {
    end()
    return undefined
  }
  const reader = source.getReader()
  // A source may fail while nobody reads, as when its request is aborted.
  reader.closed.catch(end)
  return new ReadableStream<Chunk>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          end()
          return controller.close()
        }
        ignoringErrors(() => onlooker.see(value))
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

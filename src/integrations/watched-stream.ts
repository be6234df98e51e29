/** What looks on while somebody reads. */
export interface Onlooker<Chunk> {
  /** Each chunk, before the reader has it. What this throws is ignored. */
  see(chunk: Chunk): void
  /** The stream ended, failed (with its error), or was cancelled: told once. */
  end(error?: unknown): void
}

/**
 * Gives out a stream chunk by chunk as it is read, and no sooner: nothing is read ahead, nothing is kept, a cancelled reader
 * cancels the source.
 */
export function watchedStream<Chunk>(
  source: ReadableStream<Chunk>,
  { see, end }: Onlooker<Chunk>,
): ReadableStream<Chunk> {
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
        try {
          see(value)
        } catch {
          // Whatever this is, its reader shall have it.
        }
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

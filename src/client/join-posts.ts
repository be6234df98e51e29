import type { RunPost, SessionRunRequest } from '../model/run-post.ts'

/** The fields whose facts stand by themselves. Of each a single post may hold 20 at least. */
export const PARTS: readonly string[] = ['agent', 'counts', 'metadata', 'timings', 'tags']

/**
 * Two posts of one run as one, by which the run comes out as if each had been sent by itself: of scalars the later, all tags, and of
 * counts the later too, since they are totals that only grow. `undefined` where that is more than one post should hold.
 */
export function joinPosts(older: SessionRunRequest, newer: SessionRunRequest): SessionRunRequest | undefined {
  const [before, after] = [older.run as object as Fields, newer.run as object as Fields]
  const tags = [...new Set([...(older.run.tags ?? []), ...(newer.run.tags ?? [])])]
  const run: Fields = { ...before, ...after, tags }
  for (const part of PARTS) {
    if (part !== 'tags') run[part] = { ...before[part], ...after[part] }
    if (Object.keys(run[part] as object).length > 20) return undefined
  }
  return { ...newer, run: run as object as RunPost }
}

type Fields = Record<string, object | undefined>

import type { RunPost } from '../model/run-post.ts'

/** Of tags, of counts, of metadata: as few as a single post may hold of the first. */
const MOST = 20

/**
 * Two posts of one run as one, by which the run comes out as if each had been sent by itself: of scalars the later, all tags, and of
 * counts the later too, since they are totals. `undefined` where that is more than one post should hold.
 */
export function joinPosts(older: RunPost, newer: RunPost): RunPost | undefined {
  const tags = [...new Set([...(older.tags ?? []), ...(newer.tags ?? [])])]
  const joined: Record<string, unknown> = { ...older, ...newer, tags }
  for (const part of ['agent', 'counts', 'metadata', 'timings'] as const) {
    const both = { ...older[part], ...newer[part] }
    if (Object.keys(both).length > MOST || tags.length > MOST) return undefined
    joined[part] = both
  }
  return joined as object as RunPost
}

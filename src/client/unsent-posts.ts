import type { SessionRunRequest } from '../model/run-post.ts'
import { joinPosts } from './join-posts.ts'

export const MOST_POSTS = 100

/** Posts by their runs, the oldest first. */
export type UnsentPosts = Map<string, SessionRunRequest>

/** Adds a post to what is unsent: joined to that of its run, or after it where one post cannot hold both. */
export function keepPost(unsent: UnsentPosts, post: SessionRunRequest): void {
  const { sessionId, run } = post
  const key = `${sessionId} ${run.runId}`
  const older = unsent.get(key)
  const joined = older ? joinPosts(older.run, run) : run
  if (older && !joined) {
    unsent.delete(key)
    unsent.set(`${key} ${older.run.seq}`, older)
  }
  unsent.set(key, { sessionId, run: joined ?? run })
}

/** Takes out the first posts, as many as make a batch. */
export function takeBatch(posts: SessionRunRequest[]): readonly SessionRunRequest[] {
  let count = MOST_POSTS
  // At 3 bytes a character still less than the 100 kB that parsers before the endpoint let pass.
  while (count > 1 && JSON.stringify(posts.slice(0, count)).length > 30_000) count >>= 1
  return posts.splice(0, count)
}

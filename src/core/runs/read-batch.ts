import * as v from 'valibot'
import type { Warning } from '../../model/dispatch.ts'
import { isRefused, type Refused } from '../answers/result.ts'
import { membersOf, objectOf, type ReadFault, reading } from '../json/schema-readers.ts'
import { validate } from '../validate.ts'

const MAX_POSTS = 100

/** The posts of a batch, as they came, and what it held beyond them. */
export interface Batch {
  readonly posts: readonly unknown[]
  readonly warnings: readonly Warning[]
}

/**
 * Looks at a batch from without: whether it has 1 to 100 posts. Into them it does not look, so that what is wrong with one,
 * however hostile, is no fault of the batch.
 */
export function readBatch(body: unknown): Batch | Refused {
  const members = membersOf(body)
  const posts = members?.runs
  const closed = Array.isArray(posts) ? { ...members, runs: posts.slice(0, MAX_POSTS + 1).map(() => null) } : body
  const valid = validate(batchSchema, closed)
  if (isRefused(valid)) return valid
  // What is no list was refused.
  return { posts: posts as readonly unknown[], warnings: valid.warnings }
}

const batchSchema = objectOf({ runs: reading(v.array(v.unknown()), readPosts) })

function readPosts(value: unknown, faults: ReadFault[]): unknown[] {
  const detail = `expected 1 to ${MAX_POSTS} posts`
  if (!Array.isArray(value)) faults.push({ code: 'type', detail: 'expected array' })
  else if (value.length === 0) faults.push({ code: 'too_short', detail })
  else if (value.length > MAX_POSTS) faults.push({ code: 'too_many', detail })
  return value as unknown[]
}

import type { Problem } from '../errors.ts'
import type { RunPost, SessionRunRequest } from '../model/run-post.ts'

/** Fields with independent members. A single post may have at least 20 members of each. */
const PARTS: readonly string[] = ['agent', 'counts', 'metadata', 'timings', 'tags']

type Fields = Record<string, object | undefined>

/**
 * Joins two posts of one run: later scalars and counts win (counts are totals that only grow). `undefined` if the result is too large.
 */
export function joinPosts(older: SessionRunRequest, newer: SessionRunRequest): SessionRunRequest | undefined {
  const before = older.run as object as Fields
  const after = newer.run as object as Fields
  const tags = [...new Set([...(older.run.tags ?? []), ...(newer.run.tags ?? [])])]
  const run: Fields = { ...before, ...after, tags }
  for (const part of PARTS) {
    if (part !== 'tags') run[part] = { ...before[part], ...after[part] }
    if (Object.keys(run[part] as object).length > 20) return undefined
  }
  return { ...newer, run: run as object as RunPost }
}

/**
 * Removes the members that the problem points to, such as `/runs/0/run/tags/1`, or whole fields. `undefined` if the run itself is
 * refused.
 */
export function withoutRefused(run: RunPost, { errors = [] }: Problem): RunPost | undefined {
  const text = JSON.stringify(run)
  const rest = JSON.parse(text)
  for (const { pointer } of errors) {
    const [field = '', key] = pointer.split('/').slice(4)
    if (key && PARTS.includes(field)) delete rest[field]?.[key.replaceAll('~1', '/').replaceAll('~0', '~')]
    else delete rest[field]
  }
  // Close the gaps last: pointers refer to the tags as sent.
  rest.tags = rest.tags?.filter(() => true)
  return rest.runId && JSON.stringify(rest).length < text.length ? rest : undefined
}

import type { Problem } from '../errors.ts'
import type { RunPost, SessionRunRequest } from '../model/run-post.ts'

/** Fields with independent members. A single post may hold at least 20 members of each. */
const PARTS: readonly string[] = ['agent', 'counts', 'metadata', 'timings', 'tags']

type Fields = Record<string, object | undefined>

/**
 * Joins two posts of one run to one with the same effect: later scalars and counts win (counts are totals that only grow), tags are
 * united. `undefined` when the result holds more than one post should.
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

/**
 * A refused post without the members that its problem points to, as in `/runs/0/run/tags/1`; other fields are removed as a whole.
 * `undefined` when the run itself is refused.
 */
export function withoutRefused(run: RunPost, { errors = [] }: Problem): RunPost | undefined {
  const text = JSON.stringify(run)
  const rest = JSON.parse(text)
  for (const { pointer } of errors) {
    const [field = '', key] = pointer.split('/').slice(4)
    if (key && PARTS.includes(field)) delete rest[field]?.[key.replaceAll('~1', '/').replaceAll('~0', '~')]
    else delete rest[field]
  }
  // Closes the gaps only now: pointers count the tags as sent.
  rest.tags = rest.tags?.filter(() => true)
  return rest.runId && JSON.stringify(rest).length < text.length ? rest : undefined
}

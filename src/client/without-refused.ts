import type { Problem } from '../errors.ts'
import type { RunPost } from '../model/run-post.ts'
import { PARTS } from './join-posts.ts'

/**
 * A refused post without the facts that its problem points to, as in `/runs/0/run/tags/1`; what has no facts that stand by themselves
 * goes as a whole. `undefined` where the run itself is refused.
 */
export function withoutRefused(run: RunPost, { errors = [] }: Problem): RunPost | undefined {
  const text = JSON.stringify(run)
  const rest = JSON.parse(text)
  for (const { pointer } of errors) {
    const [field = '', key] = pointer.split('/').slice(4)
    if (key && PARTS.includes(field)) delete rest[field]?.[key.replaceAll('~1', '/').replaceAll('~0', '~')]
    else delete rest[field]
  }
  // Its other places are what they were until now.
  rest.tags = rest.tags?.filter(() => true)
  return rest.runId && JSON.stringify(rest).length < text.length ? rest : undefined
}

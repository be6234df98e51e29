import type { Problem } from '../errors.ts'
import type { RunPost } from '../model/run-post.ts'

/** A refused post without the facts that its problem names. `undefined` where it names none: all of it is refused. */
export function withoutRefused(run: RunPost, { errors = [] }: Problem): RunPost | undefined {
  const rest: RunPost & Record<string, unknown> = { ...run }
  for (const { pointer } of errors) {
    // As in /runs/0/run/tags/1.
    const field = pointer.split('/')[4] ?? ''
    if (field !== 'runId') delete rest[field]
  }
  return Object.keys(rest).length < Object.keys(run).length ? rest : undefined
}

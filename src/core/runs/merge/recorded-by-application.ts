import type { RunReport, RunState } from '../../../model/run.ts'
import type { IgnoredField } from '../../../model/run-post.ts'
import { statusSource } from '../../../model/run-status.ts'
import { hasMetered, METERING, ONCE } from '../../../model/shown-run.ts'

/** Lists the fields of an agent's post that the application has recorded, equal or not. The values stay unknown to the agent. */
export function recordedByApplication(
  posted: RunReport,
  state: RunState,
  application: RunReport,
): readonly IgnoredField[] {
  const fields: string[] = []
  const isEnd = statusSource(state) === 'application'
  const isMetered = hasMetered(application)
  const add = (prefix: string, record: object, isRecorded: (name: string) => boolean): void => {
    for (const name of Object.keys(record)) if (isRecorded(name)) fields.push(`${prefix}${name}`)
  }
  for (const name of ONCE) if (posted[name] !== undefined && application[name] !== undefined) fields.push(name)
  if (posted.status !== undefined && isEnd) fields.push('status')
  add('timings.', posted.earliest, (name) => Object.hasOwn(application.earliest, name))
  add('counts.', posted.counts, () => isMetered)
  for (const name of Object.keys(posted.final)) if (isEnd) fields.push(FINAL_FIELDS[name as keyof RunReport['final']])
  add('', posted.latest, (path) =>
    isMetered && METERING.has(path) ? true : path !== 'userId' && Object.hasOwn(application.latest, path),
  )
  add('metadata.', posted.metadata, (key) => Object.hasOwn(application.metadata, key))
  if (posted.tags.length > 0 && application.tags.length > 0) fields.push('tags')
  return fields.map((field) => ({ field, reason: 'application_recorded' }))
}

/** Names of the fields of an end, as a post has them. */
export const FINAL_FIELDS = {
  endedAt: 'timings.endedAt',
  durationMs: 'timings.durationMs',
  error: 'error',
  finishReason: 'finishReason',
} as const

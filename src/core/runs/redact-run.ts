import { isStorable } from '../../model/json.ts'
import type { RunError } from '../../model/run.ts'
import type { RunPost } from '../../model/run-post.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import type { Redactor } from '../../ports/redactor.ts'
import { port } from '../answers/fault.ts'
import { type CheckedSessionRun, LENGTHS } from './session-run-schema.ts'

/** Redacts every free text of a post: errors, tags and metadata values. All texts run concurrently. */
export function redactRun({ sessionId, run }: CheckedSessionRun, redactor: Redactor): Promise<CheckedSessionRun> {
  const redacted = async (): Promise<CheckedSessionRun> => {
    const [error, tags, metadata] = await Promise.all([
      run.error && redactError(run.error, redactor),
      run.tags && redactTags(run.tags, redactor),
      run.metadata && redactMetadata(run.metadata, redactor),
    ])
    return { sessionId, run: { ...run, ...(error && { error }), ...(tags && { tags }), ...(metadata && { metadata }) } }
  }
  return port('redactor_unavailable', redacted, { runId: run.runId })
}

async function redactError(error: RunError, redactor: Redactor): Promise<RunError> {
  const { type, message, code } = error
  const [cleanType, cleanMessage, cleanCode] = await Promise.all([
    redactText(type, 'error.type', LENGTHS.errorType, redactor),
    message === undefined ? undefined : redactText(message, 'error.message', LENGTHS.errorMessage, redactor),
    code === undefined ? undefined : redactText(code, 'error.code', LENGTHS.errorCode, redactor),
  ])
  return {
    ...error,
    type: cleanType,
    ...(cleanMessage !== undefined && { message: cleanMessage }),
    ...(cleanCode !== undefined && { code: cleanCode }),
  }
}

async function redactTags(tags: readonly string[], redactor: Redactor): Promise<readonly string[]> {
  const length = { min: 0, max: LENGTHS.tag.max }
  const kept = await Promise.all([...new Set(tags)].map((tag) => redactText(tag, 'tags', length, redactor)))
  return kept.filter((tag) => tag !== '')
}

/** Redacts text values. Keys, numbers, booleans and `null` stay. */
async function redactMetadata(
  metadata: NonNullable<RunPost['metadata']>,
  redactor: Redactor,
): Promise<NonNullable<RunPost['metadata']>> {
  const entries = Object.entries(metadata).map(async ([key, value]) => {
    if (typeof value !== 'string') return [key, value] as const
    return [key, await redactText(value, `metadata.${key}`, LENGTHS.metadata, redactor)] as const
  })
  return Object.fromEntries(await Promise.all(entries))
}

/** Async, so that a redactor that throws at once causes a rejection, and no other text's rejection stays unhandled. */
async function redactText(
  text: string,
  field: string,
  { min, max }: { readonly min: number; readonly max: number },
  redactor: Redactor,
): Promise<string> {
  const kept: unknown = await redactor.redact(text, field)
  const fits = typeof kept === 'string' && kept.length >= min && kept.length <= max && isStorable(kept)
  if (fits) return kept
  // Without the key of metadata, which may be private.
  const place = field.startsWith('metadata.') ? 'metadata' : field
  throw wrongReturn(
    `redact() of the redactor for ${place}`,
    kept,
    `a text of ${min} to ${max} characters without NUL and lone surrogates`,
  )
}

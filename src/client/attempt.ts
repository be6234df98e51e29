import type { Problem } from '../errors.ts'
import { ClientError } from './client-error.ts'
import type { ClientOptions, FetchLike } from './client-options.ts'

/** Sends a request once. Rejects with a {@link ClientError}, or with what the token function threw. */
export async function attempt<Answer>(
  send: (authorization: string) => ReturnType<FetchLike>,
  given: ClientOptions['token'],
): Promise<Answer> {
  const token = typeof given === 'function' ? await given() : given
  let answer: Awaited<ReturnType<FetchLike>> | undefined
  let content: Partial<Problem> = {}
  try {
    answer = await send(`Bearer ${token}`)
    content = Object(await answer.json())
  } catch (error) {
    // What fetch says of a header that it cannot send quotes the header.
    const cause = token && `${error}`.includes(token) ? undefined : error
    // What is no JSON is an answer, too.
    if (!answer || Object(error).name !== 'SyntaxError') throw new ClientError('network', 'No answer', { cause })
  }
  const { ok, status } = answer
  // All that a Sallyport answers has warnings, but for its problems.
  if (ok && 'warnings' in content) return content as Answer
  const problem = content.type === `urn:sallyport:problem:${content.code}` ? (content as Problem) : undefined
  throw new ClientError(problem?.code ?? 'bad_answer', problem?.detail ?? `Status ${status}`, {
    status,
    problem,
    retryAfterMs: readRetryAfter(answer.headers.get('retry-after')),
    // The next token may be another.
    ...(status === 401 && given !== token && { retryable: true }),
  })
}

/** Seconds or an HTTP date, in milliseconds from now. */
function readRetryAfter(value: string | null): number | undefined {
  const ms = Number(value) * 1000 || Date.parse(`${value}`) - Date.now()
  return ms > 0 ? ms : undefined
}

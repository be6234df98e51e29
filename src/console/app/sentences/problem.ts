import type { Problem } from '../api.ts'

/** Next step after a problem. */
export function nextStep({ status, isSignedOut, isOfPost }: Problem): string {
  if (isSignedOut) return ''
  if (status === 0 || status >= 500) return isOfPost ? 'Try again in a moment.' : 'The console asks again by itself.'
  if (status === 403) return 'Ask the people who run the host for access.'
  if (status === 404) return 'It may have been removed. Go back to the list.'
  return status === 422 ? 'Correct what is named here.' : 'Try again, and report it to the people who run the host.'
}

/** A problem as one text. */
export function textOfProblem(problem: Problem): string {
  const faults = (problem.errors ?? []).map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}.`)
  return [problem.detail, ...faults, nextStep(problem)].filter(Boolean).join(' ')
}

import type { RunStatus, WaitingFor } from '../../../model/run.ts'
import { type Sentence, sentenceOf } from './sentence.ts'

const STATUSES = {
  queued: { means: 'It has not started.', next: 'Wait for the next post of its agent.' },
  running: { means: 'It runs.', next: 'Wait: without a post for a while it becomes expired.' },
  waiting: { means: 'It waits for a person or another system.', next: 'See the application of the agent.' },
  completed: { means: 'It has ended without an error.', next: 'Nothing to do.' },
  incomplete: {
    means: 'It ended before its work was done, for example at a limit of tokens.',
    next: 'Read its finish reason, raise the limit, then run it again.',
  },
  failed: { means: 'It ended with an error.', next: 'Read the error below, and look its trace up in your tracing.' },
  cancelled: { means: 'Someone stopped it.', next: 'Nothing to do, or run it again.' },
  expired: {
    means: 'No post came for so long that it counts as dead.',
    next: 'See whether its process died. A later post of it replaces this status.',
  },
} as const satisfies Record<RunStatus, Sentence>

const WAITING = {
  input: { means: 'It waits for input of a person.', next: 'Answer it in the application of the agent.' },
  approval: {
    means: 'It waits for an approval.',
    next: 'Answer it under Approvals, or in the application of the agent.',
  },
  auth: { means: 'It waits until someone signs in.', next: 'Sign in to the service that it asks for.' },
  tool: { means: 'It waits for a tool.', next: 'See whether the tool answers.' },
} as const satisfies Record<WaitingFor, Sentence>

export function explainRun(status: unknown, waitingFor?: unknown): Sentence {
  return status === 'waiting' && waitingFor !== undefined
    ? sentenceOf(WAITING, waitingFor)
    : sentenceOf(STATUSES, status)
}

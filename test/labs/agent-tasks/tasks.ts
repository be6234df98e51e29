import type { Task } from './task.ts'
import { agentToken } from './tasks/agent-token.ts'
import { askAPerson } from './tasks/ask-a-person.ts'
import { chatChannel } from './tasks/chat-channel.ts'
import { commentDigest } from './tasks/comment-digest.ts'
import { conditions } from './tasks/conditions.ts'
import { expressHost } from './tasks/express-host.ts'
import { germanTemplates } from './tasks/german-templates.ts'
import { logsAndErrors } from './tasks/logs-and-errors.ts'
import { mailFailover } from './tasks/mail-failover.ts'
import { orderOutbox } from './tasks/order-outbox.ts'
import { quietHours } from './tasks/quiet-hours.ts'
import { rateLimit } from './tasks/rate-limit.ts'
import { recordRun } from './tasks/record-run.ts'
import { retryFailed } from './tasks/retry-failed.ts'
import { sendOnce } from './tasks/send-once.ts'
import { sharedFile } from './tasks/shared-file.ts'
import { smsFallback } from './tasks/sms-fallback.ts'
import { tokenBudget } from './tasks/token-budget.ts'
import { unsubscribeLink } from './tasks/unsubscribe-link.ts'
import { verifyWebhook } from './tasks/verify-webhook.ts'

/** Tasks that measure whether a coding agent can use the package at its first attempt. */
export const TASKS: readonly Task[] = [
  expressHost,
  conditions,
  mailFailover,
  smsFallback,
  commentDigest,
  quietHours,
  orderOutbox,
  sendOnce,
  verifyWebhook,
  unsubscribeLink,
  chatChannel,
  agentToken,
  recordRun,
  tokenBudget,
  askAPerson,
  sharedFile,
  germanTemplates,
  rateLimit,
  logsAndErrors,
  retryFailed,
]

/** The tasks as Markdown, to be given to an agent. */
export function printTasks(): string {
  const sections = TASKS.map(({ name, text }, index) => `## ${index + 1}. \`${name}.ts\`\n\n${text}\n`)
  return `${RULES}\n${sections.join('\n')}`
}

const RULES = `# Tasks

Solve each task with the package \`sallyport\`, which is installed in this project. Write one file for each task into the root of the
project. Each file is an ES module in TypeScript that exports the function of its task, and imports no other file of the project.

- Options and results have the types of the signature. Functions reject or throw on failure.
- Mail servers listen on 127.0.0.1 at \`smtpPort\`, without TLS and without a login. Mails come from \`shop@example.com\`.
- \`deliver()\` sends all that is due now, and resolves when it is done. Nothing is sent before it is called.
- \`now\` gives the present time in milliseconds since 1970. Everything of sallyport takes the time from it, not from the system.
- \`secret\` is a bearer token of an application, as the package generates them.
- \`stop()\` and \`close()\` end servers, connections and background work.
- Keep data in memory, unless the task names a file.
`

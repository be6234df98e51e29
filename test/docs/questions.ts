/** A question of a reader, the words to search for, and where the answer stands. */
export interface Question {
  readonly asks: string
  readonly search: string
  /** The page on the site. */
  readonly page: string
  /** A heading on it, above the answer. */
  readonly heading: string
}

function question(asks: string, search: string, page: string, heading: string): Question {
  return { asks, search, page, heading }
}

/** Twelve questions of a newcomer who evaluated the package, and twelve more. */
export const QUESTIONS: readonly Question[] = [
  question('How do I dispatch in the transaction of my order?', 'outbox', 'operating', 'Outbox'),
  question('How do I use quiet hours, digests and fallbacks?', 'digest', 'delivery', 'When it is sent'),
  question('How do recipients unsubscribe?', 'unsubscribe', 'consent', 'Unsubscribe links'),
  question('How do bounces of SendGrid arrive?', 'sendgrid', 'feedback', 'SendGrid'),
  question('How do I post to Slack?', 'slack', 'channels/chat', 'Slack'),
  question('What may the token of an agent do?', 'grant', 'session-tokens', 'What a grant allows'),
  question('How do I cap what an agent spends?', 'budget', 'alerts', 'Budgets'),
  question('How do I stop a host without losing sends?', 'graceful', 'operating', 'Starting and stopping'),
  question('How do I keep everything in Redis?', 'redis', 'writing-a-store', 'Writing a store'),
  question('Which options has sms()?', 'sms', 'channels/sms', 'Options'),
  question('How does a receiver verify a webhook?', 'verify webhook', 'channels/webhook', 'Verifying a request'),
  question('How do I write a health check, and which logger fits?', 'health check', 'monitoring', 'A health check'),
  question('In which time zone are quiet hours?', 'timezone', 'delivery', 'Planned'),
  question('How does an agent ask a person?', 'approval', 'approvals', 'Approvals'),
  question('How do I attach a PDF to a mail?', 'attachment', 'channels/email', 'Attachments'),
  question('Why was a message not sent?', 'reason', 'delivery', 'Every reason'),
  question('How do I test rules and retries?', 'unit test', 'testing', 'Unit tests'),
  question('How do I mount it in Next.js?', 'next.js', 'hosts', 'Next.js'),
  question('How do I rotate a secret?', 'rotate secret', 'session-tokens', 'Rotating secrets'),
  question('How do I migrate the database?', 'migrate', 'storage-sql', 'Migrations'),
  question("How do I erase a person's data?", 'gdpr', 'erasure', 'Erasure'),
  question('How do I alert with Prometheus?', 'prometheus', 'metrics', 'OpenTelemetry'),
  question('Where do all options stand?', 'options', 'options', 'SallyportOptions'),
  question('How does it compare with Novu?', 'novu', 'comparison', 'Choose'),
]

/** The needs of an entry beyond the language and the web platform. */
export type Need =
  /** Loads in every runtime. */
  | 'nothing'
  /**
   * A module of Node. Bun and Deno have it; workerd has it with `nodejs_compat`, and without that the bundler reports
   * an error.
   */
  | `node:${string}`

/** The needs of each entry. */
export const NEEDS: Readonly<Record<string, Need>> = {
  sallyport: 'nothing',
  'sallyport/auth': 'nothing',
  'sallyport/express': 'node:buffer',
  'sallyport/koa': 'node:buffer',
  'sallyport/fetch': 'nothing',
  'sallyport/node': 'node:buffer',
  'sallyport/openapi': 'nothing',
  'sallyport/client': 'nothing',
  'sallyport/client/read': 'nothing',
  'sallyport/integrations': 'nothing',
  'sallyport/liquid': 'nothing',
  'sallyport/json-logic': 'nothing',
  'sallyport/policy': 'nothing',
  'sallyport/pricing': 'nothing',
  'sallyport/rate-limits': 'nothing',
  'sallyport/otel': 'nothing',
  'sallyport/storage/memory': 'nothing',
  'sallyport/storage/sql': 'nothing',
  'sallyport/storage/documents': 'nothing',
  'sallyport/storage/engine': 'nothing',
  'sallyport/queue/postgres': 'nothing',
  'sallyport/queue/bullmq': 'node:net',
  'sallyport/channels/email': 'nothing',
  'sallyport/channels/webhook': 'node:http',
  'sallyport/channels/sms': 'nothing',
  'sallyport/channels/log': 'nothing',
  'sallyport/channels/failover': 'nothing',
  'sallyport/feedback/ses': 'node:crypto',
  'sallyport/feedback/sendgrid': 'node:crypto',
  'sallyport/feedback/mailgun': 'node:crypto',
  'sallyport/feedback/postmark': 'node:crypto',
  'sallyport/feedback/resend': 'node:crypto',
  'sallyport/feedback/twilio': 'node:crypto',
  'sallyport/console': 'nothing',
  'sallyport/testing': 'node:assert/strict',
}

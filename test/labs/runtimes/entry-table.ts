/** What an entry needs beside the language and what the web has. */
export type Need =
  /** Nothing: it loads in every runtime. */
  | 'nothing'
  /** A module of Node's. Bun and Deno have it; workerd has it with `nodejs_compat`, and bundling for it without that says so. */
  | `node:${string}`

/** Which entry loads where. */
export const NEEDS: Readonly<Record<string, Need>> = {
  sallyport: 'nothing',
  'sallyport/auth': 'nothing',
  'sallyport/express': 'node:buffer',
  'sallyport/koa': 'node:buffer',
  'sallyport/fetch': 'nothing',
  'sallyport/node': 'node:buffer',
  'sallyport/openapi': 'nothing',
  'sallyport/client': 'nothing',
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
  'sallyport/storage/rules': 'nothing',
  'sallyport/queue/postgres': 'nothing',
  'sallyport/queue/bullmq': 'node:net',
  'sallyport/channels/email': 'nothing',
  'sallyport/channels/webhook': 'node:http',
  'sallyport/channels/sms': 'nothing',
  'sallyport/channels/log': 'nothing',
  'sallyport/channels/failover': 'nothing',
  'sallyport/testing': 'node:assert/strict',
}

import type { Project } from './project.ts'
import type { StoreName } from './storage-file.ts'

/** An event of an order, which {@link EXAMPLE} sends. */
export const EVENTS_FILE = `import { defineEvents } from 'sallyport'
import * as v from 'valibot'

export const events = defineEvents({
  'order.shipped': {
    data: v.object({ orderId: v.string() }),
    channels: { log: { text: ({ data }) => \`Order \${data.orderId} is on its way\` } },
  },
})
`

/** A valid dispatch of {@link EVENTS_FILE}. */
export const EXAMPLE = '{ "eventType": "order.shipped", "recipient": "user_42", "eventData": { "orderId": "A-1" } }'

/** The module that exports `sallyport`. */
export function instanceFile(project: Project, store: StoreName): string {
  const { framework, imported } = project
  const imports = [
    "import { createSallyport } from 'sallyport'",
    "import { appSecrets } from 'sallyport/auth'",
    "import { log } from 'sallyport/channels/log'",
    ...(store === 'memory' ? ["import { memoryStore } from 'sallyport/storage/memory'"] : []),
    `import { events } from './events${imported}'`,
    ...(store === 'memory' ? [] : [`import { storage } from './storage${imported}'`]),
  ]
  const made = `createSallyport({
  auth: appSecrets([process.env.APP_SECRET]),
  events,
  ${OPTIONS[store]},
  channels: { log: log() }, // prints messages: replace it by email, webhook or sms
})`
  return `${imports.join('\n')}\n\n${framework === 'next' ? shared(made, project) : `export const sallyport = ${made}\n`}`
}

const OPTIONS: Readonly<Record<StoreName, string>> = {
  memory: 'store: memoryStore()',
  sqlite: 'store: storage.store',
  postgresql: 'store: storage.store,\n  queue: storage.queue',
}

function shared(made: string, { isTypeScript }: Project): string {
  const all = isTypeScript
    ? 'const shared = globalThis as { sallyport?: ReturnType<typeof create> }'
    : 'const shared = globalThis'
  return `function create() {
  return ${made.replaceAll('\n', '\n  ')}
}

// Next loads this module once per bundle; all share one Sallyport.
${all}
shared.sallyport ??= create()
export const sallyport = shared.sallyport
`
}

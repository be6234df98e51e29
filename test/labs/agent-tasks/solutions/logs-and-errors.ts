import { createSallyport, defineEvents } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void

interface Options {
  readonly logger: { readonly info: Write; readonly warn: Write; readonly error: Write }
  readonly track: (error: unknown) => void
  readonly greeting: (name: string) => string
  readonly print: (text: string) => void
}

export function open({ logger, track, greeting, print }: Options): {
  greet(name: string): Promise<void>
  deliver(): Promise<void>
} {
  const { dispatchOrThrow, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events: defineEvents({
      greeted: {
        data: v.object({ name: v.string() }),
        channels: { log: { text: ({ data }) => greeting(data.name) } },
      },
    }),
    store: memoryStore(),
    channels: { log: log({ write: print }) },
    logger,
    hooks: { onError: (error) => track(error) },
  })
  return {
    async greet(name) {
      await dispatchOrThrow({ eventType: 'greeted', recipient: 'user_42', eventData: { name } })
    },
    async deliver() {
      await worker.runDue()
    },
  }
}

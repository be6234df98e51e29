import { createTransport } from 'nodemailer'
import { createSallyport, defineEvents } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { failover } from 'sallyport/channels/failover'
import { memoryStore } from 'sallyport/storage/memory'

const events = defineEvents({ hello: { channels: { email: { subject: () => 'Hello', text: () => 'Hello' } } } })

const mail = (port: number) =>
  email(createTransport({ host: '127.0.0.1', port, ignoreTLS: true }), { from: 'shop@example.com' })

interface Options {
  readonly primary: number
  readonly backup: number
  readonly to: string
}

export async function send({ primary, backup, to }: Options): Promise<{ status: string; asked: string[] }> {
  const { dispatchOrThrow, dispatches, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    store: memoryStore(),
    channels: { email: failover({ primary: mail(primary), backup: mail(backup) }) },
  })
  const { dispatchId } = await dispatchOrThrow({ eventType: 'hello', recipient: to })
  await worker.runDue()
  const [delivery] = (await dispatches.get(dispatchId))?.deliveries ?? []
  const providers = delivery?.attemptLog?.at(-1)?.providers ?? []
  return { status: `${delivery?.status}`, asked: providers.map(({ name }) => name) }
}

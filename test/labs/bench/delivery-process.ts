/**
 * Delivers from a memory store in its own process: `delivery-process.ts <size>`. For every message from its parent it
 * fills stores with that many dispatches, delivers them, and answers with a {@link DeliveryFigure}.
 */
import { createSallyport, defineEvents } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { memoryStore } from 'sallyport/storage/memory'
import type { DeliveryFigure } from './delivery.ts'
import { processorTime } from './measure.ts'

/** Minimum deliveries of one round: small stores are filled and emptied repeatedly. */
const DELIVERIES = 50_000

const size = Number(process.argv[2])
const { secret } = await generateAppSecret({ env: 'bench' })
const events = defineEvents({ 'order.shipped': { channels: { none: { text: () => 'Your order is on its way.' } } } })

const channels = { none: { address: () => 'ada', send: async () => ({ outcome: 'sent' as const }) } }
const auth = appSecrets([secret])

/** Microseconds per delivery. */
async function fillAndEmpty(count: number): Promise<DeliveryFigure> {
  const { dispatch, worker } = createSallyport({ auth, events, store: memoryStore(), channels })
  const began = processorTime()
  for (let index = 0; index < count; index++)
    await dispatch({ eventType: 'order.shipped', recipient: 'ada@example.com' })
  const accepted = processorTime()
  const { sent } = await worker.runDue()
  const ended = processorTime()
  if (sent !== count) throw new Error(`${sent} of ${count} were sent`)
  return { accept: ((accepted - began) * 1000) / count, deliver: ((ended - accepted) * 1000) / count }
}

async function round(count: number): Promise<DeliveryFigure> {
  const repeats = Math.ceil(DELIVERIES / count)
  const sum = { accept: 0, deliver: 0 }
  for (let repeat = 0; repeat < repeats; repeat++) {
    const { accept, deliver } = await fillAndEmpty(count)
    sum.accept += accept / repeats
    sum.deliver += deliver / repeats
  }
  return sum
}

await round(1000)
process.on('message', async () => process.send?.(await round(size)))
process.send?.('ready')

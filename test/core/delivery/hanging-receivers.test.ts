import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSallyport, defineEvents } from 'sallyport'
import { webhook } from 'sallyport/channels/webhook'
import { memoryStore } from 'sallyport/storage/memory'
import { expect, onTestFinished, test } from 'vitest'
import { SECRET } from '../../channels/events.ts'
import { testAuth } from '../../support/deps.ts'
import { HostClock } from '../../support/host-clock.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { until } from '../../support/until.ts'

const HANGING = 5

/** A server on loopback that answers 200, or never. */
async function listening(isHanging: boolean, onRequest: () => void = () => {}): Promise<string> {
  const server = createServer((request, response) => {
    onRequest()
    request.resume()
    if (!isHanging) request.on('end', () => response.end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

test("Five origins of one tenant that hang do not stop another tenant's webhooks", async () => {
  let hanging = 0
  let arrived = 0
  const dead = await Promise.all(Array.from({ length: HANGING }, () => listening(true, () => void hanging++)))
  const alive = await listening(false, () => void arrived++)
  const reach = { secret: SECRET, allowHttp: true, allowPrivateNetworks: true }
  const sallyport = createSallyport({
    auth: testAuth,
    events: defineEvents({ e: { channels: { webhook: {} } } }),
    store: memoryStore(),
    channels: { webhook: webhook({ ...reach, timeoutMs: UNHURRIED_MS }) },
    worker: { sendTimeoutMs: 2 * UNHURRIED_MS, leaseMs: UNHURRIED_MS },
    recipients: { find: async (id) => ({ id, url: id === 'alive' ? alive : (dead[Number(id)] ?? '') }) },
    logger: { log() {} },
  })
  onTestFinished(() => sallyport.worker.stop({ graceMs: 0 }))
  const dispatch = (recipient: string, tenant: string) => sallyport.dispatch({ eventType: 'e', recipient }, { tenant })
  for (let at = 0; at < 200; at++) expect((await dispatch(String(at % HANGING), 'attacker')).ok).toBe(true)
  sallyport.worker.start()
  await until(() => hanging === 2 * HANGING)
  for (let at = 0; at < 20; at++) expect((await dispatch('alive', 'other')).ok).toBe(true)
  await until(() => arrived === 20)
  expect(hanging).toBe(2 * HANGING)
})

test('Six paths that hang move no webhook to another path of their origin behind a pause', async () => {
  let hanging = 0
  const arrived: string[] = []
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    request.resume()
    if (path.startsWith('/hang')) hanging++
    else request.on('end', () => response.end(() => arrived.push(path)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clock = new HostClock()
  const sallyport = createSallyport({
    auth: testAuth,
    events: defineEvents({ e: { channels: { webhook: {} } } }),
    ...{ store: memoryStore({ clock }), clock },
    channels: { webhook: webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true, clock }) },
    worker: { concurrency: 20, perReceiver: 12 },
    recipients: { find: async (id) => ({ id, url: `${origin}/${id}` }) },
    logger: { log() {} },
  })
  onTestFinished(() => sallyport.worker.stop({ graceMs: 0 }))
  const names = (path: string): string[] => Array.from({ length: 6 }, (_, at) => `${path}${at}`)
  sallyport.worker.start()
  for (const recipient of names('hang')) await sallyport.dispatch({ eventType: 'e', recipient })
  await until(() => hanging === 6)
  clock.advance(15_000)
  for (const recipient of names('good')) await sallyport.dispatch({ eventType: 'e', recipient })
  await until(() => arrived.length === 6)
  expect(arrived.toSorted()).toEqual(names('/good'))
})

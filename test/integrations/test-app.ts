import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSallyport, defineEvents, type Run } from 'sallyport'
import { log } from 'sallyport/channels/log'
import { createClient, createRunRecorder, type RecordedRun, type RunRecorder } from 'sallyport/client'
import { toNode } from 'sallyport/node'
import { memoryStore } from 'sallyport/storage/memory'
import { expect } from 'vitest'
import { testAuth } from '../support/deps.ts'

const EVENTS = defineEvents({ ping: { channels: { log: { text: () => 'pong' } } } })

/** A host on this machine and a recorder that posts to it. */
export interface TestApp {
  readonly recorder: RunRecorder
  /** Records one run around `work` and returns it as the host stored it. */
  recorded(work: (run: RecordedRun) => unknown): Promise<Run>
  /** The same for work that throws. */
  failed(work: (run: RecordedRun) => unknown, signal?: AbortSignal): Promise<Run>
  /** All runs of the host, the oldest first. */
  runs(): Promise<readonly Run[]>
}

const stops: (() => Promise<unknown>)[] = []

export async function startTestApp(): Promise<TestApp> {
  const sallyport = createSallyport({
    auth: testAuth,
    events: EVENTS,
    store: memoryStore(),
    channels: { log: log() },
  })
  const server = createServer(toNode(sallyport)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = createClient({ baseUrl: `http://127.0.0.1:${port}`, token: 'app' })
  const dropped: unknown[] = []
  const recorder = createRunRecorder({ client, heartbeatMs: 0, onDropped: (_, why) => dropped.push(why) })
  stops.push(async () => {
    await recorder.close()
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const runs = async () => {
    await recorder.flush()
    expect(dropped).toEqual([])
    return (await sallyport.runs.list({ first: 'oldest' })).items
  }
  const newest = async () => {
    const run = (await runs()).at(-1)
    if (run === undefined) throw new Error('the host has no run')
    return run
  }
  return {
    recorder,
    runs,
    async recorded(work) {
      await recorder.record({ sessionId: 's1' }, work)
      return newest()
    },
    async failed(work, signal) {
      const thrown = await recorder.record({ sessionId: 's1', ...(signal && { signal }) }, work).catch((error) => error)
      expect(thrown).toBeInstanceOf(Error)
      expect(thrown).not.toHaveProperty('name', 'AssertionError')
      return newest()
    },
  }
}

/** Stops all test apps; for `afterEach`. */
export async function stopTestApps(): Promise<void> {
  for (const stop of stops.splice(0)) await stop()
}

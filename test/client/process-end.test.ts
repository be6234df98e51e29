import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createClient, createRunRecorder } from 'sallyport/client'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { timers } from '../../src/client/timers.ts'
import { startHost, startScripted, stopServers, type TestHost, until } from './servers.ts'

const AGENT = fileURLToPath(new URL('agent-process.ts', import.meta.url))
const children: ChildProcess[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await stopServers()
})

/** An agent with open runs, and its exit. */
async function startAgent(url: string, mode: string): Promise<{ child: ChildProcess; ended: Promise<unknown[]> }> {
  const child = spawn(process.execPath, ['--import', 'tsx', AGENT, url, mode], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  const ended = once(child, 'exit')
  if (child.stdout) await Promise.race([once(child.stdout, 'data'), ended])
  return { child, ended }
}

const statuses = async ({ sallyport }: TestHost) =>
  (await sallyport.runs.list({})).items.map(({ status, timings }) => [status, timings?.endedAt !== undefined])

describe('a process with open runs', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    'A process that gets %s cancels its open runs and ends by that signal',
    async (signal) => {
      const host = await startHost()
      const { child, ended } = await startAgent(host.url, 'busy')
      expect(await statuses(host)).toEqual([
        ['running', false],
        ['running', false],
      ])
      child.kill(signal)
      expect(await ended).toEqual([null, signal])
      expect(await statuses(host)).toEqual([
        ['cancelled', true],
        ['cancelled', true],
      ])
    },
  )

  test('A process without other work cancels its open runs and exits', async () => {
    const host = await startHost()
    const { ended } = await startAgent(host.url, 'idle')
    expect(await ended).toEqual([0, null])
    expect(await statuses(host)).toEqual([
      ['cancelled', true],
      ['cancelled', true],
    ])
  })

  test('A process with its own signal handler exits as the handler decides', async () => {
    const host = await startHost()
    const { child, ended } = await startAgent(host.url, 'own handler')
    child.kill('SIGTERM')
    if (child.stdout) await once(child.stdout, 'data')
    child.stdin?.write('go\n')
    expect(await ended).toEqual([7, null])
    expect(await statuses(host)).toEqual([
      ['cancelled', true],
      ['cancelled', true],
    ])
  })

  test.each([
    ['busy, silent server', [null, 'SIGTERM']],
    ['idle, silent server', [0, null]],
  ])('A process does not wait for a silent server or retry: %s', async (mode, end) => {
    const { url, asked } = await startScripted('hang')
    const { child, ended } = await startAgent(url, mode)
    if (mode.startsWith('busy')) child.kill('SIGTERM')
    expect(await ended).toEqual(end)
    expect(asked.length).toBeLessThanOrEqual(2)
  })

  test('A closed recorder removes its process listeners', async () => {
    const listeners = () => ['SIGTERM', 'SIGINT', 'beforeExit'].map((event) => process.listenerCount(event))
    const before = listeners()
    const { url } = await startHost()
    const recorder = createRunRecorder({ client: createClient({ baseUrl: url, token: 'app' }), endWith: process })
    expect(listeners()).toEqual(before.map((count) => count + 1))
    await recorder.close()
    expect(listeners()).toEqual(before)
  })

  test.each([
    ['raises the signal again', [], [[7, 'SIGTERM']]],
    ['leaves the signal to another listener', [() => {}], []],
  ])('The recorder cancels its runs and %s', async (_, listeners, kills) => {
    // No time limit of the client passes.
    vi.spyOn(timers, 'after').mockReturnValue(() => {})
    const killed: unknown[][] = []
    const own = Object.assign(new EventEmitter(), { pid: 7, kill: (...call: unknown[]) => killed.push(call) })
    for (const listener of listeners) own.on('SIGTERM', listener)
    const host = await startHost()
    const recorder = createRunRecorder({ client: createClient({ baseUrl: host.url, token: 'app' }), endWith: own })
    recorder.start({ sessionId: 's1' })
    own.emit('SIGTERM', 'SIGTERM')
    await until(() => own.listenerCount('beforeExit') === 0)
    expect(await statuses(host)).toEqual([['cancelled', true]])
    expect(killed).toEqual(kills)
  })
})

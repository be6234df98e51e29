import type { Run } from 'sallyport'
import { createClient, createRunRecorder, type RunRecorder, type RunRecorderOptions } from 'sallyport/client'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import { startHost, stopServers, type TestHost } from './servers.ts'

/** A host, a recorder that posts to it, and the dropped posts. */
export interface Recording extends TestHost {
  readonly recorder: RunRecorder
  readonly dropped: Parameters<NonNullable<RunRecorderOptions['onDropped']>>[]
  /** A run of the host; throws if it is missing. */
  recorded(runId: string): Promise<Run>
}

const recorders: RunRecorder[] = []

/** Closes all recorders, then their hosts; for `afterEach`. */
export async function stopRecording(): Promise<void> {
  for (const recorder of recorders.splice(0)) await recorder.close()
  await stopServers()
}

export async function startRecording(
  options: Partial<RunRecorderOptions> = {},
  ...host: Parameters<typeof startHost>
): Promise<Recording> {
  const running = await startHost(...host)
  const client = createClient({ baseUrl: running.url, token: 'app', retries: 0, timeoutMs: UNHURRIED_MS })
  const dropped: Recording['dropped'] = []
  const onDropped: RunRecorderOptions['onDropped'] = (...drop) => void dropped.push(drop)
  const recorder = createRunRecorder({ client, onDropped, ...options })
  recorders.push(recorder)
  const recorded = async (runId: string): Promise<Run> => {
    const run = await running.run(runId)
    if (run === undefined) throw new Error(`the host has no run ${runId}`)
    return run
  }
  return { ...running, recorder, dropped, recorded }
}

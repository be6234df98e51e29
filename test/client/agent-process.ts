/**
 * Agent process with open runs: `agent-process.ts <url of its host> <mode>`. It prints `open` once the host has
 * recorded them. In the modes `idle` and `idle, silent server` it has no other work. In the mode `own handler` it also
 * listens for the signal, and exits with 7 after a line on its input. Only a silent server ever exceeds a time limit.
 */
import { once } from 'node:events'
import { createClient } from '../../src/client/client.ts'
import { createRunRecorder } from '../../src/client/run-recorder.ts'

const [, , baseUrl = '', mode = ''] = process.argv
const { setTimeout } = globalThis
if (!mode.endsWith('silent server'))
  globalThis.setTimeout = ((run: () => void, ms = 0) => setTimeout(run, 60 * ms)) as typeof setTimeout
const client = createClient({ baseUrl, token: 'app' })
const recorders = [1, 2].map(() => createRunRecorder({ client, endWith: process }))
if (!mode.startsWith('idle')) setInterval(() => {}, 60_000)
if (mode === 'own handler') {
  let signals = 0
  process.on('SIGTERM', async () => {
    signals += 1
    for (const recorder of recorders) await recorder.close()
    process.stdout.write('closed\n')
    await once(process.stdin, 'data')
    process.exit(signals === 1 ? 7 : 8)
  })
}
for (const [index, recorder] of recorders.entries()) recorder.start({ sessionId: 's1', runId: `r${index + 1}` })
if (!mode.endsWith('silent server')) for (const recorder of recorders) await recorder.flush()
process.stdout.write('open\n')

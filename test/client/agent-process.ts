/**
 * An agent in a process of its own, whose runs are open: `agent-process.ts <url of its host> <mode>`. Says `open` once they are known
 * there. With `idle` it has nothing else to do, nor with `idle, nobody answers`; with `own handler` it listens for
 * the signal, too, and goes with 7 when it is told to.
 */
import { once } from 'node:events'
import { createClient } from '../../src/client/client.ts'
import { createRunRecorder } from '../../src/client/run-recorder.ts'

const [, , baseUrl = '', mode = ''] = process.argv
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
if (!mode.endsWith('nobody answers')) for (const recorder of recorders) await recorder.flush()
process.stdout.write('open\n')

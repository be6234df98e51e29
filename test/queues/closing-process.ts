/**
 * Process with a queue over a Redis that does not run: `closing-process.ts <port>` listens and wakes, and closes the
 * queue at its first log line. It ends by itself.
 */
import { bullmqQueue } from '../../src/queues/bullmq.ts'
import { queueListener } from './listener.ts'

let isClosing = false

const queue = bullmqQueue({
  connection: { host: '127.0.0.1', port: Number(process.argv[2]) },
  logger: {
    log() {
      if (!isClosing) queue.close().then(() => process.stdout.write('closed'))
      isClosing = true
    },
  },
})
queue.listen(queueListener())
queue.wake(0)
queue.wake(10)

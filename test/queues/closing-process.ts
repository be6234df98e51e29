/**
 * A process that has a queue over a Redis that is not there: `closing-process.ts <port>` listens and wakes, and closes the queue
 * once it has found out. It ends by itself.
 */
import { bullmqQueue } from '../../src/queues/bullmq.ts'

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
queue.listen(() => {})
queue.wake(0)
queue.wake(10)

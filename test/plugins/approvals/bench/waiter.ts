/**
 * An agent in another process: `waiter.ts <url of the database>`. It waits for each approval whose id its parent sends, sends `waiting`
 * once it does, and `ended`. It sends `woken` at each bare notice, of the topic `bench`.
 */
import type { Clock } from 'sallyport'
import { ASKED, hostAt } from './asking-host.ts'

let isWaiting = false
const clock: Clock = {
  now: () => Date.now(),
  after(ms, run, keepAlive) {
    const timer = setTimeout(run, ms)
    // The timer of a wait.
    if (keepAlive && isWaiting) {
      isWaiting = false
      process.send?.('waiting')
    }
    return () => clearTimeout(timer)
  },
}
const { queue, sallyport } = hostAt(process.argv[2] ?? '', { clock })
queue.listen({
  due() {},
  lost() {},
  connected: () => void process.send?.('connected'),
  noticed: (topic) => void (topic === 'bench' && process.send?.('woken')),
})
process.on('message', async (approvalId: string) => {
  isWaiting = true
  await sallyport.approvals.wait({ sessionId: ASKED.sessionId, approvalId })
  process.send?.('ended')
})
process.on('disconnect', () => process.exit())

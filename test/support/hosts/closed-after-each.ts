import { afterEach } from 'vitest'
import type { RunningHost } from './host.ts'

/** Returns a function that closes the hosts it is given after each test. */
export function closedAfterEach(): (running: RunningHost) => RunningHost {
  const open: RunningHost[] = []
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close()
  })
  return (running) => {
    open.push(running)
    return running
  }
}

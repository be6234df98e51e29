import { LINGER_MS } from '../../../src/http/body-reader.ts'
import type { HostClock } from '../../support/host-clock.ts'
import { FakeEndpoints } from '../../support/host-endpoints.ts'
import { closedAfterEach } from '../../support/hosts/closed-after-each.ts'
import type { Host, HostOptions, RunningHost } from '../../support/hosts/host.ts'

export interface Started {
  readonly url: string
  readonly endpoints: FakeEndpoints
  readonly running: RunningHost
  /**
   * The reply to a body that may be refused while it arrives. It advances the clock for hosts that complete it later.
   */
  complete<Reply>(reply: Promise<Reply>): Promise<Reply>
}

/** Starts a host over recording endpoints and closes it after the test. */
export type Start = (options?: HostOptions) => Promise<Started>

export function starterOf(host: Host): Start {
  const closing = closedAfterEach()
  return async (options) => {
    const endpoints = new FakeEndpoints()
    const running = closing(await host.start({ endpoints }, options))
    const isLate = host.own?.['completes the last answer of a connection only as that closes'] !== undefined
    return {
      url: running.url,
      endpoints,
      running,
      complete: (reply) => (isLate ? afterLingering(reply, endpoints.clock) : reply),
    }
  }
}

/** Advances the clock by the time that a connection stays open for a refused body, if it is still open. */
async function afterLingering<Reply>(reply: Promise<Reply>, clock: HostClock): Promise<Reply> {
  await Promise.race([reply, clock.dueWithin(LINGER_MS)])
  clock.advance(LINGER_MS)
  return reply
}

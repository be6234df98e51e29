import { afterEach } from 'vitest'
import { FakeEndpoints } from '../../support/host-endpoints.ts'
import type { Host, HostOptions, RunningHost } from '../../support/hosts/host.ts'

export interface Started {
  readonly url: string
  readonly endpoints: FakeEndpoints
  readonly running: RunningHost
}

/** Starts a host over endpoints that tell what they were handed; it is closed after the test. */
export type Start = (options?: HostOptions) => Promise<Started>

export function starterOf(host: Host): Start {
  const open: RunningHost[] = []
  afterEach(async () => {
    for (const running of open.splice(0)) await running.close()
  })
  return async (options) => {
    const endpoints = new FakeEndpoints()
    const running = await host.start({ endpoints }, options)
    open.push(running)
    return { url: running.url, endpoints, running }
  }
}

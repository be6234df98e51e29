import { spawnSync } from 'node:child_process'
import { connect } from 'node:net'
import { describe } from 'vitest'
import { chromium } from '../docs/browser.ts'
import { PART } from '../support/parts.ts'

/** Checks for optional services: each returns the reason why one is missing, or `undefined`. */
const PROBES: Readonly<Record<Service, () => Promise<string | undefined>>> = {
  redis: () => refusing(6379),
  mariadb: () => refusing(3306),
  'redis-server': async () =>
    spawnSync('redis-server', ['--version']).status === 0
      ? undefined
      : 'there is no redis-server on the path: install Redis, such as by `apt-get install redis-server`',
  chromium: async () =>
    chromium() === undefined
      ? 'there is no Chromium on the path: install it, such as by `apt-get install chromium-headless-shell`'
      : undefined,
}

/** `redis-server` is the program, for a Redis of one test. */
export type Service = 'redis' | 'mariadb' | 'redis-server' | 'chromium'

/**
 * `describe` if the services are present, else a `describe` that skips and prints the reason. With
 * `SALLYPORT_REQUIRE_SERVICES=1` it throws instead. `npm test` uses no service, and skips in silence.
 */
export async function serviceOrSkip(...services: readonly Service[]): Promise<typeof describe | typeof describe.skip> {
  if (PART === 'quick') return describe.skip
  const reasons = await Promise.all(services.map(async (service) => ({ service, reason: await PROBES[service]() })))
  const missing = reasons.filter(({ reason }) => reason !== undefined)
  if (missing.length === 0) return describe
  const summary = missing.map(({ service, reason }) => `${service}: ${reason}`).join('; ')
  if (process.env.SALLYPORT_REQUIRE_SERVICES === '1') throw new Error(`required for these tests: ${summary}`)
  console.warn(`skipped: ${summary}`)
  return describe.skip
}

/** The reason why nothing answers at a port of this machine, or `undefined`. */
function refusing(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (reason?: string): void => {
      socket.destroy()
      resolve(reason)
    }
    socket.setTimeout(2_000, () => end(`127.0.0.1:${port} does not answer`))
    socket.once('connect', () => end())
    socket.once('error', () => end(`nothing listens on 127.0.0.1:${port}`))
  })
}

import { afterAll, afterEach, beforeAll, beforeEach, describe } from 'vitest'
import type { Host } from '../../support/hosts/host.ts'
import { watchStrayRejections } from '../../support/stray-rejections.ts'
import { testBatches } from './batches.ts'
import { testBodies } from './bodies.ts'
import { testCallers } from './callers.ts'
import { testContentTypes } from './content-types.ts'
import { testLifecycle } from './lifecycle.ts'
import { testMounts } from './mounts.ts'
import { testOpenEndpoints } from './open-endpoints.ts'
import { testReads } from './reads.ts'
import { testRefusals } from './refusals.ts'
import { testRefusedBodies } from './refused-bodies.ts'
import { testRoutes } from './routes.ts'
import { testSlowBodies } from './slow-bodies.ts'
import { testWholeSallyport } from './whole-sallyport.ts'

/** Runs every transport test over real sockets in one host. */
export function testHost(host: Host): void {
  describe(host.name, () => {
    let undo: (() => Promise<void>) | undefined
    beforeAll(async () => {
      undo = await host.prepare?.()
    }, 180_000)
    afterAll(() => undo?.())

    let check: () => Promise<void>
    beforeEach(() => {
      check = watchStrayRejections()
    })
    afterEach(() => check())

    testRoutes(host)
    testMounts(host)
    testBodies(host)
    testContentTypes(host)
    testCallers(host)
    testSlowBodies(host)
    testRefusedBodies(host)
    testLifecycle(host)
    testBatches(host)
    testOpenEndpoints(host)
    testReads(host)
    testRefusals(host)
    testWholeSallyport(host)
  })
}

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { BATCH, DISPATCH, RUN } from '../../adapters/matrix/paths.ts'
import type { RunningHost } from '../../support/hosts/host.ts'
import { nodeHost } from '../../support/hosts/node.ts'
import { watchStrayRejections } from '../../support/stray-rejections.ts'
import { type Asking, assertRow } from './asking.ts'
import { PLACEMENTS } from './callers.ts'
import { MATRIX } from './cells.ts'
import { ASKS } from './fault.ts'
import { rawPost } from './raw-request.ts'
import { app, type TestApp } from './test-app.ts'

const PATHS = { dispatch: DISPATCH, 'dry run': DISPATCH, run: RUN, batch: BATCH }

/** Sections with every kind of token behind one verifier, as in a real host. */
const sections = MATRIX.filter(({ placement }) => placement === 'through anyOf')

let check: () => Promise<void>
beforeAll(() => {
  check = watchStrayRejections()
})
afterAll(() => check())

/** Sends raw bytes to a server over a socket. */
function askSocket({ url }: RunningHost): Asking {
  const port = Number(new URL(url).port)
  return async (ask, request) => {
    const seen = await rawPost(port, PATHS[ask], request)
    if (seen.text !== '') {
      expect(seen.headers['content-type']).toBe(seen.status < 400 ? 'application/json' : 'application/problem+json')
      expect(seen.headers['cache-control']).toBe('no-store')
      expect(seen.headers['content-length']).toBe(String(Buffer.byteLength(seen.text)))
    }
    return seen
  }
}

describe.each(sections)('a server, for $name', (section) => {
  let asked: TestApp
  let host: RunningHost
  beforeAll(async () => {
    asked = await app(PLACEMENTS[section.placement]?.(section.caller) ?? section.caller.verifier)
    host = await nodeHost.start(createSallyport(asked.options))
  })
  afterAll(() => host.close())

  it.each(section.rows)(`A server answers as listed for ${section.name}, %s`, async (_, fault) => {
    const { answers, throughAnyOf = answers, overHttp = throughAnyOf } = fault
    await assertRow(fault, overHttp, asked, askSocket(host))
  })

  it(`A server throws no error for ${section.name}`, () => expect(host.errors).toEqual([]))
})

it('The matrix sends 7,588 requests to the server', () => {
  expect(sections.flatMap(({ rows }) => rows).length * ASKS.length).toBe(7_588)
})

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSallyport } from '../../../src/sallyport/create-sallyport.ts'
import { BATCH, DISPATCH, RUN } from '../../adapters/matrix/paths.ts'
import type { RunningHost } from '../../support/hosts/host.ts'
import { nodeHost } from '../../support/hosts/node.ts'
import { watchStrayRejections } from '../../support/stray-rejections.ts'
import { type Asking, assertRow } from './asking.ts'
import { DOORS } from './callers.ts'
import { MATRIX } from './cells.ts'
import { ASKS } from './fault.ts'
import { rawPost } from './raw-request.ts'
import { app, type TestApp } from './test-app.ts'

const PATHS = { dispatch: DISPATCH, 'dry run': DISPATCH, run: RUN, batch: BATCH }

/** As hosts have it: every kind of token at one door. */
const sections = MATRIX.filter(({ door }) => door === 'through anyOf')

let check: () => Promise<void>
beforeAll(() => {
  check = watchStrayRejections()
})
afterAll(() => check())

/** A server, by bytes on a socket. */
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

describe.each(sections)('to $name a server answers', (section) => {
  let asked: TestApp
  let host: RunningHost
  beforeAll(async () => {
    asked = await app(DOORS[section.door]?.(section.caller) ?? section.caller.verifier)
    host = await nodeHost.start(createSallyport(asked.options))
  })
  afterAll(() => host.close())

  it.each(section.rows)('%s', async (_, fault) => {
    const { answers, throughAnyOf = answers, overHttp = throughAnyOf } = fault
    await assertRow(fault, overHttp, asked, askSocket(host))
  })

  it('throws nothing', () => expect(host.errors).toEqual([]))
})

it('asks this many questions', () => {
  expect(sections.flatMap(({ rows }) => rows).length * ASKS.length).toBe(7_060)
})

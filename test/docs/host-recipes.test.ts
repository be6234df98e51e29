import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { busyCallers, type Call } from '../processes/busy-callers.ts'
import { answeredSocket } from '../processes/idle-socket.ts'
import { documented } from '../support/documented.ts'
import type { Program } from '../support/program.ts'
import { portOf, type RecipeProject, recipeProject } from '../support/recipe-project.ts'
import { HANG_MS, UNHURRIED_MS } from '../support/unhurried.ts'

const PAGE = 'docs/hosts.md'
const CALLERS = 50
/** The end of a server, a second after SIGTERM: slow callers take longer. */
const CLOSING = 'setTimeout(close, 1_000)'

let project: RecipeProject
const { secret } = await generateAppSecret({ env: 'test' })

beforeAll(async () => {
  project = await recipeProject()
  await project.write('sallyport.js', documented(PAGE, '// sallyport.ts\n'))
  await project.write('stop.js', patient(documented(PAGE, '// stop.ts\n')))
}, HANG_MS)
afterAll(() => project.remove())

const JSON_TYPE = { 'content-type': 'application/json' }

const dispatch: Call = {
  ...{ method: 'POST', path: '/api/outbound/dispatch' },
  headers: { ...JSON_TYPE, authorization: `Bearer ${secret}` },
  body: JSON.stringify({ eventType: 'order.shipped', recipient: 'ada@example.com' }),
}
const order: Call = { method: 'POST', path: '/orders', headers: JSON_TYPE, body: '{"id":"o1"}' }
const home: Call = { method: 'GET', path: '/' }

/** Each by its section, with a route of the host's own and its status. */
const HOSTS: readonly (readonly [heading: string, own: Call, status: number])[] = [
  ['Express', order, 200],
  ['Koa', home, 200],
  ['node:http', home, 404],
  ['Fastify', order, 200],
  ['h3', order, 200],
  ['Hono', order, 200],
  ['itty-router', home, 200],
]

/** The shared module that stops a host, with ample time. It closes the server at SIGUSR2 instead of a second after SIGTERM. */
function patient(stop: string): string {
  expect(stop).toContain(CLOSING)
  return stop.replaceAll('15_000', `${UNHURRIED_MS}`).replace(CLOSING, "process.once('SIGUSR2', () => close())")
}

/** Runs the code of a section, with the modules that the sections share. */
async function start(heading: string): Promise<Program> {
  const file = `${heading.replaceAll(/\W/g, '-')}.js`
  await project.write(file, documented(PAGE, 'stopAtSigterm(', heading))
  return project.start(file, { APP_SECRET: secret })
}

describe.each(HOSTS)('the host of the section %s', (heading, own, status) => {
  it('The documented host delivers, answers all callers at SIGTERM, and exits', async () => {
    const host = await start(heading)
    const port = await portOf(host)
    const callers = busyCallers(port, CALLERS, [dispatch, own])
    await callers.answered(3)
    await host.line('[sallyport] log')
    const idle = await answeredSocket(port)
    host.signal('SIGTERM')
    const { losses, statuses } = await callers.gone
    expect([losses, Object.keys(statuses)]).toEqual([[], ['202', `${status}`].sort()])
    host.signal('SIGUSR2')
    expect(await host.ended).toBe(0)
    if (!idle.closed) await once(idle, 'close')
  })
})

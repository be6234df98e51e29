import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { busyCallers, type Call } from '../processes/busy-callers.ts'
import { answeredSocket } from '../processes/idle-socket.ts'
import { documented } from '../support/documented.ts'
import type { Program } from '../support/program.ts'
import { portOf, type RecipeProject, recipeProject } from '../support/recipe-project.ts'
import { HANG_MS, UNHURRIED_MS } from '../support/unhurried.ts'

const CALLERS = 50
/** The end of a host, a second after SIGTERM: slow callers take longer. */
const CLOSING = /setTimeout\((\(\) => .*?\.close\(\)), 1_000\)/

let project: RecipeProject
const { secret } = await generateAppSecret({ env: 'test' })

beforeAll(async () => {
  project = await recipeProject()
  await project.write('sallyport.js', documented('docs/hosts/README.md', '// sallyport.ts'))
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

/** Each with a route of the host's own and its status. */
const HOSTS: readonly (readonly [page: string, own: Call, status: number])[] = [
  ['docs/hosts/express.md', order, 200],
  ['docs/hosts/koa.md', home, 200],
  ['docs/hosts/node.md', home, 404],
  ['docs/hosts/fastify.md', order, 200],
  ['docs/hosts/h3.md', order, 200],
  ['docs/hosts/hono.md', order, 200],
  ['docs/hosts/itty-router.md', home, 200],
]

/**
 * Runs the code of a page, with the module that the pages share. It closes at SIGUSR2 instead of a second after SIGTERM,
 * and has ample time to stop.
 */
async function start(page: string): Promise<Program> {
  const file = `${page.replaceAll(/\W/g, '-')}.js`
  const printed = documented(page, "process.once('SIGTERM'")
  expect(printed).toMatch(CLOSING)
  const patient = printed.replaceAll('15_000', `${UNHURRIED_MS}`)
  await project.write(file, patient.replace(CLOSING, "process.once('SIGUSR2', $1)"))
  return project.start(file, { APP_SECRET: secret })
}

describe.each(HOSTS)('the host of %s', (page, own, status) => {
  it('The documented host delivers, answers all callers at SIGTERM, and exits', async () => {
    const host = await start(page)
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

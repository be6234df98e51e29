import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { documented } from '../support/documented.ts'
import { portOf, type RecipeProject, recipeProject } from '../support/recipe-project.ts'
import { HANG_MS } from '../support/unhurried.ts'

const PAGE = 'docs/hosts.md'
const STAFF = "{ name: 'ada', isOperator: true }"

/** Each host of a section `Console in <host>`, with the login that replaces its marked line. */
const HOSTS = [
  ['Express', `app.post('/login', (req, res) => { req.session.staff = ${STAFF}; res.end() })`],
  [
    'Koa',
    `app.use((ctx, next) => { if (ctx.path !== '/login') return next(); ctx.session.staff = ${STAFF}; ctx.body = '' })`,
  ],
  [
    'Hono',
    `import { setSignedCookie } from 'hono/cookie'
    app.post('/login', async (c) => { await setSignedCookie(c, 'staff', 'ada', secret); return c.text('') })`,
  ],
  ['Fastify', `app.post('/login', async (request) => { request.session.staff = ${STAFF}; return '' })`],
] as const

let project: RecipeProject
const { secret } = await generateAppSecret({ env: 'test' })
const env = { APP_SECRET: secret, SESSION_SECRET: 's'.repeat(32) }

beforeAll(async () => {
  project = await recipeProject()
  await project.write('sallyport.js', documented(PAGE, '// sallyport.ts\n'))
}, HANG_MS)
afterAll(() => project.remove())

describe.each(HOSTS)('the console in the documented host: %s', (name, login) => {
  it('Nobody sees the console before the login, and staff operate it after', async () => {
    const code = documented(PAGE, 'createConsole(', `Console in ${name}`).replace(/^\/\/ Your login: .*$/m, login)
    expect(code).toContain(login)
    await project.write(`${name}.js`, code)
    const url = `http://127.0.0.1:${await portOf(project.start(`${name}.js`, env))}`

    for (const path of ['/ops/', '/ops/api/outbound/dispatches', '/ops/preview'])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 404])
    const forged = { cookie: 'connect.sid=x; koa.sess=x; staff=ada; sessionId=x; session=x' }
    expect((await fetch(`${url}/ops/`, { headers: forged })).status).toBe(404)

    const { headers } = await fetch(`${url}/login`, { method: 'POST' })
    const cookie = headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    const page = await fetch(`${url}/ops/`, { headers: { cookie } })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('data-user="ada"')])

    const event = { eventType: 'order.shipped', recipient: 'jane@example.com' }
    const accepted = await fetch(`${url}/api/outbound/dispatch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(event),
    })
    const { dispatchId } = (await accepted.json()) as { readonly dispatchId: string }
    const cancel = await fetch(`${url}/ops/api/outbound/dispatches/${dispatchId}/cancel`, {
      method: 'POST',
      headers: {
        cookie,
        'sec-fetch-site': 'same-origin',
        'x-sallyport-console': '1',
        'content-type': 'application/json',
      },
      body: '{}',
    })
    expect([cancel.status, await cancel.json()]).toMatchObject([200, { dispatch: { status: 'cancelled' } }])
  })
})

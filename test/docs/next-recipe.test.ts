import { createRequire } from 'node:module'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateAppSecret } from '../../src/auth/app-secret.ts'
import { documented } from '../support/documented.ts'
import { freePort } from '../support/free-port.ts'
import { startNode } from '../support/program.ts'
import { type RecipeProject, recipeProject } from '../support/recipe-project.ts'

const PAGE = 'docs/hosts.md'
const NEXT = createRequire(import.meta.url).resolve('next/dist/bin/next')
/** Needed only here, because the dependencies lie outside the project. */
const CONFIG = `export default {
  turbopack: { root: '/' },
  experimental: { turbopackMinify: false, turbopackFileSystemCacheForBuild: false },
}`

const SESSION_SECRET = 's'.repeat(32)

function signedSession(key: string): Promise<string> {
  const token = new SignJWT({ staff: 'ada' }).setProtectedHeader({ alg: 'HS256' })
  return token.sign(new TextEncoder().encode(key))
}

const { secret } = await generateAppSecret({ env: 'test' })

describe('the Next.js app of docs/hosts.md', () => {
  let project: RecipeProject
  beforeAll(async () => {
    project = await recipeProject()
    await project.write('sallyport.js', documented(PAGE, '// sallyport.ts for Next.js\n'))
    await project.write('app/api/[...path]/route.js', documented(PAGE, '// app/api/[...path]/route.ts'))
    await project.write('app/ops/[[...path]]/route.js', documented(PAGE, '// app/ops/[[...path]]/route.ts'))
    await project.write('instrumentation.js', documented(PAGE, '// instrumentation.ts'))
    await project.write('next.config.js', CONFIG)
  }, 120_000)
  afterAll(() => project.remove())

  it('The documented Next.js app builds, delivers, and exits at SIGTERM', async () => {
    const env = { APP_SECRET: secret, SESSION_SECRET, NEXT_TELEMETRY_DISABLED: '1' }
    const building = startNode([NEXT, 'build'], project.folder, env)
    expect(await building.ended, building.lines.join('\n')).toBe(0)
    const port = await freePort()
    const host = startNode([NEXT, 'start', '--port', `${port}`], project.folder, env)
    try {
      await host.line('Ready')
      const answer = await fetch(`http://127.0.0.1:${port}/api/outbound/dispatch`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ eventType: 'order.shipped', recipient: 'ada' }),
      })
      expect(answer.status).toBe(202)
      await host.line('[sallyport] log')
      const url = `http://127.0.0.1:${port}/ops`
      expect((await fetch(url)).status).toBe(404)
      expect((await fetch(url, { headers: { cookie: `session=${await signedSession('x'.repeat(32))}` } })).status).toBe(
        404,
      )
      const cookie = `session=${await signedSession(SESSION_SECRET)}`
      const page = await fetch(url, { headers: { cookie } })
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('data-user="ada"')])
      const list = await fetch(`${url}/api/outbound/dispatches`, { headers: { cookie } })
      expect(await list.json()).toMatchObject({ items: [{ recipient: 'ada' }] })
    } finally {
      host.signal('SIGTERM')
    }
    expect([0, 143, 'SIGTERM']).toContain(await host.ended)
  }, 180_000)
})

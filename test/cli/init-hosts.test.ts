import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { freePort } from '../support/free-port.ts'
import { postgresServer } from '../support/postgres-server.ts'
import { type Program, startNode } from '../support/program.ts'
import { portOf, type RecipeProject, recipeProject } from '../support/recipe-project.ts'
import { HANG_MS } from '../support/unhurried.ts'
import { runIn } from './run-in.ts'

/** `commonjs`: TypeScript that compiles to CommonJS. */
type Language = 'ts' | 'js' | 'mjs' | 'commonjs'
type Store = 'memory' | 'sqlite' | 'postgresql'

let project: RecipeProject
let secret: string
beforeAll(async () => {
  project = await recipeProject()
  secret = (await runIn(project.folder, ['secret', '--env', 'dev'])).out.trim()
}, HANG_MS)
afterAll(() => project.remove())

/** Servers before Sallyport. The lines that `init` prints replace the comments. */
const SERVERS: Readonly<Record<string, string>> = {
  express: `import express from 'express'
// import
const app = express()
// mount
app.use(express.json())
app.get('/', (_req, res) => void res.send('home'))
const server = app.listen(3000)
// start
`,
  koa: `import Koa from 'koa'
// import
const app = new Koa()
// mount
app.use((ctx) => {
  ctx.body = 'home'
})
const server = app.listen(3000)
// start
`,
  hono: `import { serve } from '@hono/node-server'
import { Hono } from 'hono'
// import
const app = new Hono()
// mount
app.get('/', (c) => c.text('home'))
const server = serve({ fetch: app.fetch, port: 3000 })
// start
`,
  fastify: `import Fastify from 'fastify'
// import
const app = Fastify()
// mount
app.get('/', async () => 'home')
await app.listen({ port: 3000 })
`,
  node: `import { createServer, type RequestListener } from 'node:http'
// import
const listener: RequestListener = (_req, res) => void res.end('home')
// mount
server.listen(3000)
// start
`,
}

/** A server with the lines of the printed steps. */
function withPrinted(server: string, printed: string, language: Language): string {
  const places = {
    import: /^ +import .*outbound'?.*$/m,
    mount: /^ +(?:app\.|const server =).*outbound\)?.*$/im,
    start: /^ +(?:void )?startOutbound\(.*$/m,
  }
  const code = Object.entries(places).reduce((text, [place, pattern]) => {
    if (!text.includes(`// ${place}\n`)) return text
    const [line] = pattern.exec(printed) ?? []
    if (line === undefined) throw new Error(`no line to ${place} in:\n${printed}`)
    return text.replace(`// ${place}\n`, `${line.trim()}\n`)
  }, server)
  return isTypeScript(language) ? code : code.replace(', type RequestListener', '').replace(': RequestListener', '')
}

function isTypeScript(language: Language): boolean {
  return language === 'ts' || language === 'commonjs'
}

/** Runs `init` in a new project. Gives what it printed. */
async function initialized(folder: string, framework: string, language: Language, store: Store): Promise<string> {
  const root = join(project.folder, folder)
  await mkdir(join(root, framework === 'next' ? 'app' : 'src'), { recursive: true })
  const dependencies = { [framework]: '*', ...(isTypeScript(language) && { typescript: '*' }) }
  const manifest = { ...((language === 'ts' || language === 'js') && { type: 'module' }), dependencies }
  await writeFile(join(root, 'package.json'), JSON.stringify(manifest))
  const { code, out, err } = await runIn(root, ['init', '--store', store])
  expect([code, err]).toEqual([0, ''])
  return out
}

/** Errors of the strictest type check over all TypeScript of a folder. */
async function typeErrors(folder: string, more: ts.CompilerOptions): Promise<readonly string[]> {
  const root = fileURLToPath(ROOT)
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const own: ts.CompilerOptions = { ...options, isolatedDeclarations: false, declaration: false, noUnusedLocals: true }
  const names = await readdir(join(project.folder, folder), { recursive: true })
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => join(project.folder, folder, name))
  expect(files.length).toBeGreaterThan(2)
  const program = ts.createProgram(files, { ...own, typeRoots: [join(root, 'node_modules/@types')], ...more })
  const found = files.flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
  return found.map(
    ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
  )
}

/** Posts the body of the printed `curl`. */
async function postPrinted(printed: string, port: number): Promise<number> {
  const [, body] = /^ +-d '(.*)'$/m.exec(printed) ?? []
  const { status } = await fetch(`http://127.0.0.1:${port}/api/outbound/dispatch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  })
  return status
}

const LOGGED = 'text: Order A-1 is on its way'

async function openPostgres(): Promise<{ readonly env: Readonly<Record<string, string>>; remove(): Promise<void> }> {
  const server = await postgresServer()
  return { env: { DATABASE_URL: server.url }, remove: () => server.remove() }
}

/** Starts a server with the printed lines, which delivers and exits at SIGTERM. */
async function checkServer(framework: string, language: Language, store: Store): Promise<void> {
  const folder = `${framework}-${language}-${store}`
  const printed = await initialized(folder, framework, language, store)
  const server = `${folder}/src/server.${isTypeScript(language) ? 'ts' : language}`
  await writeFile(join(project.folder, server), withPrinted(SERVERS[framework] ?? '', printed, language))
  if (isTypeScript(language)) expect(await typeErrors(folder, { verbatimModuleSyntax: language === 'ts' })).toEqual([])

  const database = store === 'postgresql' ? await openPostgres() : undefined
  const host = project.start(server, {
    ...{ APP_SECRET: secret, OUTBOUND_FILE: join(project.folder, folder, 'outbound.db') },
    ...database?.env,
    ...(isTypeScript(language) && { NODE_OPTIONS: '--import tsx' }),
  })
  const port = await portOf(host)
  await accepted(printed, port)
  await host.line(LOGGED)
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('home')
  host.signal('SIGTERM')
  expect(await host.ended, host.lines.join('\n')).toBe(0)
  await database?.remove()
}

describe.each(['express', 'koa', 'hono', 'fastify', 'node'])('the files for %s', (framework) => {
  it.each<[Language, Store]>([
    ['ts', 'memory'],
    ['ts', 'sqlite'],
    ['ts', 'postgresql'],
    ['js', 'memory'],
    ['js', 'sqlite'],
    ['mjs', 'memory'],
    ['mjs', 'postgresql'],
  ])('With the printed lines, a server in %s with the store %s delivers, and exits at SIGTERM', (language, store) =>
    checkServer(framework, language, store),
  )
})

it.each<Store>(['memory', 'sqlite', 'postgresql'])('In CommonJS, the TypeScript with the store %s works too', (store) =>
  checkServer('express', 'commonjs', store),
)

/** A server may listen before its tables are there. */
async function accepted(printed: string, port: number): Promise<void> {
  await expect.poll(() => postPrinted(printed, port)).toBe(202)
}

describe('the files for next', () => {
  const NEXT = createRequire(import.meta.url).resolve('next/dist/bin/next')
  /** The dependencies lie outside of the project. */
  const CONFIG = `export default {
    turbopack: { root: '/' },
    experimental: { turbopackMinify: false, turbopackFileSystemCacheForBuild: false },
  }`

  async function build(folder: string, env: Readonly<Record<string, string>>): Promise<void> {
    const root = join(project.folder, folder)
    await writeFile(join(root, 'next.config.mjs'), CONFIG)
    const building: Program = startNode([NEXT, 'build'], root, env)
    expect(await building.ended, building.lines.join('\n')).toBe(0)
  }

  it.each<[Language, Store]>([
    ['ts', 'memory'],
    ['js', 'sqlite'],
  ])(
    'An app in %s with the store %s builds, and delivers',
    async (language, store) => {
      const folder = `next-${language}-${store}`
      const printed = await initialized(folder, 'next', language, store)
      const file = join(project.folder, folder, 'outbound.db')
      const env = { APP_SECRET: secret, OUTBOUND_FILE: file, NEXT_TELEMETRY_DISABLED: '1' }
      await build(folder, env)
      const port = await freePort()
      const host = startNode([NEXT, 'start', '--port', `${port}`], join(project.folder, folder), env)
      try {
        await host.line('Ready')
        await accepted(printed, port)
        await host.line(LOGGED)
      } finally {
        host.signal('SIGTERM')
      }
      expect([0, 143, 'SIGTERM']).toContain(await host.ended)
    },
    HANG_MS,
  )

  it.each<Store>(['memory', 'sqlite', 'postgresql'])('The TypeScript with the store %s compiles', async (store) => {
    const folder = `typed-next-${store}`
    await initialized(folder, 'next', 'ts', store)
    const bundler = { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler }
    expect(await typeErrors(folder, bundler)).toEqual([])
    expect(await readFile(join(project.folder, folder, 'instrumentation.ts'), 'utf8')).toContain('worker.start()')
  })
})

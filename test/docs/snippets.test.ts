import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Server } from 'node:http'
import { fileURLToPath } from 'node:url'
import { generateAppSecret } from 'sallyport/auth'
import ts from 'typescript'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const scratch = `${root}test/docs/.snippets/`

/** The modules of the page about hosts that other snippets import. */
const SHARED = new Map([
  ['docs/hosts.md #1', 'sallyport.ts'],
  ['docs/hosts.md #2', 'stop.ts'],
])

interface Snippet {
  readonly name: string
  readonly file: string
  readonly code: string
}

const TEMPLATES = 'docs/templates.md'
const TS = /^```(ts)\n(.*?)^```$/gms
const TS_OR_TSX = /^```(tsx?)\n(.*?)^```$/gms

/** The AI SDK of the guides. It is installed under the names of its versions. */
const installed = (code: string): string => code.replaceAll(" from 'ai'", " from 'ai7'")

/** Every block marked `ts` in the README and the guides, and `tsx` in that of templates, each a whole module. Apps of Next.js and tutorials have tests of their own. */
function snippets(): Snippet[] {
  const guides = readdirSync(`${root}docs`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md') && !/^(?:api|tutorials)/.test(path))
    .map((path) => `docs/${path}`)
  return ['README.md', ...guides].flatMap((page) =>
    [...readFileSync(root + page, 'utf8').matchAll(page === TEMPLATES ? TS_OR_TSX : TS)].map(
      ([, extension = '', code = ''], index) => {
        const name = `${page} #${index + 1}`
        return { name, code: installed(code), file: `${scratch}${name.replaceAll(/[^A-Za-z0-9]+/g, '-')}.${extension}` }
      },
    ),
  )
}

const all = snippets()
const { secret } = await generateAppSecret({ env: 'test' })
const servers: Server[] = []

beforeAll(() => {
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { recursive: true })
  for (const { file, code } of all) writeFileSync(file, code)
  for (const { name, code } of all) {
    const shared = SHARED.get(name)
    if (shared !== undefined) writeFileSync(`${scratch}${shared}`, code)
  }
  const listen = Server.prototype.listen
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server) {
    servers.push(this)
    return listen.call(this, { port: 0, host: '127.0.0.1' })
  })
  vi.spyOn(console, 'log').mockImplementation(() => {})
  vi.stubEnv('APP_SECRET', secret)
  vi.stubEnv('SESSION_SECRET', 'x'.repeat(32))
})

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

describe('a documented snippet', () => {
  it('The README and the guides have snippets', () => expect(all.length).toBeGreaterThan(2))

  it('Every documented snippet compiles under the strictest settings', () => {
    const { config } = ts.readConfigFile(`${root}tsconfig.json`, ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
    const files = all.map(({ file }) => file)
    const program = ts.createProgram(files, { ...options, isolatedDeclarations: false, declaration: false })
    const diagnostics = files.flatMap((file) => ts.getPreEmitDiagnostics(program, program.getSourceFile(file)))
    const reported = diagnostics.map(({ file, start, messageText }) => {
      const line = file && start !== undefined ? file.getLineAndCharacterOfPosition(start).line + 1 : 0
      return `${file?.fileName.slice(scratch.length)}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`
    })
    expect(reported).toEqual([])
  }, 120_000)

  it.each(all)('The documented snippet runs: $name', async ({ file }) => {
    await import(file)
    for (const server of servers) {
      await vi.waitUntil(() => server.listening)
      const address = server.address()
      const port = typeof address === 'object' ? address?.port : undefined
      const answer = await fetch(`http://127.0.0.1:${port}/api/agents/session/run`, { method: 'POST' })
      expect(answer.status).toBe(401)
    }
  })

  it('The quick start of the README has at most 25 lines', () => {
    expect(all[0]?.code.trimEnd().split('\n').length).toBeLessThanOrEqual(25)
  })
})

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeFiles } from '../../src/cli/init/write-files.ts'
import { documented } from '../support/documented.ts'
import { ROOT } from '../support/entries.ts'
import { type Ran, runIn } from './run-in.ts'

const GUIDE = 'docs/command-line.md'

let above: string
let folder: string
beforeEach(() => {
  above = mkdtempSync(join(tmpdir(), 'sallyport-init-'))
  folder = join(above, 'project')
  mkdirSync(folder)
})
afterEach(() => rmSync(above, { recursive: true }))

/** Writes files of the project; a path that ends with `/` is a folder. */
function put(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(path.endsWith('/') ? join(folder, path) : dirname(join(folder, path)), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(join(folder, path), text)
  }
}

/** A `package.json` with these dependencies. */
function manifest(names: readonly string[] = [], more: object = {}): Readonly<Record<string, string>> {
  const dependencies = Object.fromEntries(names.map((name) => [name, '*']))
  return { 'package.json': JSON.stringify({ dependencies, ...more }) }
}

const init = (...args: string[]): Promise<Ran> => runIn(folder, ['init', ...args])

/** Paths of all files of the project, apart from those that the test wrote. */
function filesBut(...written: readonly string[]): readonly string[] {
  const all = readdirSync(folder, { recursive: true, withFileTypes: true })
  const paths = all.filter((each) => !each.isDirectory()).map((each) => join(each.parentPath, each.name))
  return paths
    .map((path) => path.slice(folder.length + 1))
    .filter((path) => !written.includes(path))
    .sort()
}

const text = (path: string): string => readFileSync(join(folder, path), 'utf8')
const SERVER = ['events', 'outbound', 'sallyport']
const named = (extension: string, at = ''): readonly string[] => SERVER.map((name) => `${at}${name}${extension}`)

describe('the framework', () => {
  it.each([
    [['express'], 'express', 'toExpress'],
    [['express', 'koa'], 'koa', 'toKoa'],
    [['express', 'koa', 'hono'], 'hono', 'toFetch'],
    [['express', 'koa', 'hono', 'fastify'], 'fastify', 'FastifyPluginAsync'],
    [['lodash'], 'node', 'withOutbound'],
  ])('Of %j, %s is chosen', async (names, framework, code) => {
    put({ ...manifest(names), 'tsconfig.json': '{}' })
    const { out } = await init()
    expect(out).toContain(`Written for ${framework}, with the store memory:\n`)
    expect(text('outbound.ts')).toContain(code)
  })

  it('Next is chosen before all others, and one in devDependencies counts', async () => {
    put(manifest(['fastify'], { devDependencies: { next: '*' } }))
    expect((await init()).out).toContain('Written for next, ')
  })

  it('--framework overrides package.json, and its packages are to be installed', async () => {
    put(manifest(['next', 'sallyport', 'valibot']))
    const { out } = await init('--framework', 'hono')
    expect(out).toContain('Written for hono, ')
    expect(out).toContain('     npm install hono @hono/node-server\n')
  })
})

describe('the language and the folder', () => {
  it.each([
    ['tsconfig.json', { ...manifest(), 'tsconfig.json': '{}' }, named('.ts'), './sallyport.js'],
    ['typescript in package.json', manifest(['typescript']), named('.ts'), './sallyport.js'],
    [
      'a compiler that takes .ts',
      { ...manifest(), 'tsconfig.json': '{ "compilerOptions": { "allowImportingTsExtensions": true } }' },
      named('.ts'),
      './sallyport.ts',
    ],
    ['ES modules', manifest([], { type: 'module' }), named('.js'), './sallyport.js'],
    ['CommonJS', manifest(), named('.mjs'), './sallyport.mjs'],
    ['src', { ...manifest(), 'src/': '' }, named('.mjs', 'src/'), './sallyport.mjs'],
  ])('A project with %s gets fitting files', async (_name, project, files, imported) => {
    put(project)
    expect((await init()).code).toBe(0)
    expect(filesBut(...Object.keys(project))).toEqual(files)
    expect(text(files[1] ?? '')).toContain(`from '${imported}'\n`)
  })

  it.each([
    ['no folder', {}, ''],
    ['app', { 'app/': '', 'src/': '' }, ''],
    ['pages', { 'pages/': '', 'src/': '' }, ''],
    ['src/app', { 'src/app/': '' }, 'src/'],
  ])('A Next project with %s gets a route where Next looks for it', async (_name, folders, at) => {
    put({ ...manifest(['next', 'typescript']), ...folders })
    await init()
    expect(filesBut('package.json')).toEqual(
      ['app/api/[...path]/route.ts', 'events.ts', 'instrumentation.ts', 'sallyport.ts'].map((path) => at + path),
    )
    expect(text(`${at}app/api/[...path]/route.ts`)).toContain("from '../../../sallyport'\n")
  })

  it('A Next project without TypeScript gets .js files', async () => {
    put(manifest(['next']))
    await init()
    expect(text('app/api/[...path]/route.js')).toContain("from '../../../sallyport.js'\n")
    expect(text('sallyport.js')).not.toContain('ReturnType')
  })

  it('--dir names the folder, and the printed import leads there', async () => {
    put({ ...manifest(['express', 'typescript']), 'src/': '' })
    const { out } = await init('--dir', 'src/notify')
    expect(filesBut('package.json')).toEqual(named('.ts', 'src/notify/'))
    expect(out).toContain("import { outbound, startOutbound } from './notify/outbound.js'\n")
  })
})

describe('the store', () => {
  it.each(['sqlite', 'postgresql'])('--store %s writes a file of the database', async (store) => {
    put(manifest(['express']))
    const { out } = await init('--store', store)
    expect(text('storage.mjs')).toContain(`dialect: '${store}'`)
    expect(text('storage.mjs')).not.toMatch(/type |Promise<|<unknown>|ReturnType/)
    expect(text('outbound.mjs')).toContain('await storage.open()')
    expect(out).toContain(store === 'sqlite' ? 'export OUTBOUND_FILE=' : 'export DATABASE_URL=')
    expect(out).toContain('void startOutbound(server)')
  })
})

describe('the printed steps', () => {
  it.each([
    ['package-lock.json', 'npm install', 'npm install --save-dev'],
    ['pnpm-lock.yaml', 'pnpm add', 'pnpm add --save-dev'],
    ['yarn.lock', 'yarn add', 'yarn add --dev'],
    ['bun.lock', 'bun add', 'bun add --dev'],
    ['bun.lockb', 'bun add', 'bun add --dev'],
  ])('With %s, the commands are of its package manager', async (lock, add, addDev) => {
    put({ ...manifest(['koa', 'typescript']), [lock]: '' })
    const { out } = await init('--store', 'postgresql')
    expect(out).toContain(`     ${add} sallyport valibot kysely pg\n`)
    expect(out).toContain(`     ${addDev} @types/node @types/koa @types/pg\n`)
  })

  it('A lock file of a folder above counts', async () => {
    writeFileSync(join(above, 'pnpm-lock.yaml'), '')
    put(manifest())
    expect((await init()).out).toContain('     pnpm add sallyport valibot\n')
  })

  it('Installed packages are not named', async () => {
    put(manifest(['sallyport', 'valibot', 'express']))
    const { out } = await init()
    expect(out).not.toContain('Install')
    expect(out).toContain('1. Add to the file of your server:\n')
  })

  it('The steps name the secret, a request and the line for AGENTS.md', async () => {
    put(manifest())
    const { out } = await init()
    expect(out).toContain('export APP_SECRET=$(npx sallyport secret --env dev)\n')
    expect(out).toContain('curl localhost:3000/api/outbound/dispatch')
    expect(out).toContain('Docs of sallyport for agents: node_modules/sallyport/dist/docs/skill.md\n')
    expect(existsSync(join(folder, 'AGENTS.md'))).toBe(false)
  })
})

describe('files that exist', () => {
  it('Nothing is written beside them, and the answer lists them', async () => {
    const files = { ...manifest(['express']), 'events.mjs': 'mine', 'sallyport.ts': 'mine' }
    put(files)
    expect(await init()).toEqual({
      code: 1,
      out: '',
      err: `sallyport: nothing was written, because these exist:
  sallyport.ts
  events.mjs
Give another folder with --dir, or print the files with --print.
`,
    })
    expect(filesBut(...Object.keys(files))).toEqual([])
    expect(text('events.mjs')).toBe('mine')
  })

  it('A link that leads nowhere is in the way too', async () => {
    put(manifest())
    symlinkSync(join(above, 'nothing'), join(folder, 'events.mjs'))
    expect(await init()).toMatchObject({ code: 1, err: expect.stringContaining('  events.mjs\n') })
    expect(existsSync(join(above, 'nothing'))).toBe(false)
  })

  it.each([
    ['app/api/[...path]/route.js', 'app/api/[...path]/route.js'],
    ['app/api/[...path]/page.tsx', 'app/api/[...path]/page.tsx'],
    ['app/api/[[...slug]]/route.ts', 'app/api/[[...slug]]'],
    ['pages/api/[id].ts', 'pages/api/[id].ts'],
  ])('Next allows no route beside %s', async (path, listed) => {
    put({ ...manifest(['next', 'typescript']), [path]: '' })
    const { code, err } = await init()
    expect([code, err]).toEqual([1, expect.stringContaining(`\n  ${listed}\n`)])
    expect(filesBut('package.json', path)).toEqual([])
  })

  it('An instrumentation file of Next stays, and the steps show what to add', async () => {
    put({ ...manifest(['next', 'typescript']), 'instrumentation.js': 'mine' })
    const { code, out } = await init('--store', 'postgresql')
    expect([code, text('instrumentation.js'), existsSync(join(folder, 'instrumentation.ts'))]).toEqual([
      0,
      'mine',
      false,
    ])
    expect(out).toContain(`Add to register() in your instrumentation file:

     if (process.env.NEXT_RUNTIME === 'nodejs') {
       const { storage } = await import('./storage')
       await storage.open()
`)
  })

  it('package.json stays as it is', async () => {
    const files = manifest(['express'])
    put(files)
    await init()
    expect(text('package.json')).toBe(files['package.json'])
  })
})

describe('--print', () => {
  it('The files go to stdout under their paths, the steps to stderr, and nothing is written', async () => {
    put({ ...manifest(['koa', 'typescript']), 'src/sallyport.ts': 'mine' })
    const { code, out, err } = await init('--print')
    expect([code, filesBut('package.json', 'src/sallyport.ts')]).toEqual([0, []])
    const comments = out.split('\n').filter((line) => line.startsWith('// '))
    expect(comments).toEqual(['// src/sallyport.ts', '// src/events.ts', '// src/outbound.ts'])
    expect(err).toContain('1. Install the missing packages:')
    rmSync(join(folder, 'src/sallyport.ts'))
    await init()
    const written = comments.map((line) => `${line}\n${text(line.slice(3))}`)
    expect(out).toBe(written.join('\n'))
  })
})

describe('the guide of the command line', () => {
  it('The guide shows the printed files and steps', async () => {
    put({ ...manifest(['express'], { type: 'module' }), 'package-lock.json': '', 'src/': '' })
    expect((await init('--print')).out).toBe(documented(GUIDE, '// src/sallyport.js'))
    expect((await init()).out).toBe(documented(GUIDE, 'Written for express'))
  })

  it('The guide names every option, framework and store', async () => {
    const { out } = await runIn(folder, ['help', 'init'])
    const section = /^## init$(.*?)^## /ms.exec(readFileSync(new URL(GUIDE, ROOT), 'utf8'))?.[1] ?? ''
    const names = out.match(/--[a-z]+|(?<=NAME +(?:\w+, )*)[a-z]+(?=, | \()/g) ?? []
    expect(names).toEqual(expect.arrayContaining(['--dir', '--print', 'next', 'node', 'memory', 'postgresql']))
    expect(names.filter((name) => !section.includes(`\`${name}`))).toEqual([])
  })
})

describe('what is refused', () => {
  it.each([
    [['--framework', 'nest'], /--framework must be one of next, fastify, hono, koa, express, node\n/],
    [['--store', 'redis'], /--store must be one of memory, sqlite, postgresql\n/],
    [['--stoer', 'sqlite'], /Unknown option '--stoer'/],
    [['--dir'], /--dir/],
    [['express'], /init takes options only/],
    [['--dir', '..'], /--dir must be a folder inside the project/],
    [['--dir', '/tmp'], /--dir must be a folder inside the project/],
    [['--dir', ''], /--dir must be a folder inside the project/],
    [['--dir', 'linked'], /linked is a symbolic link that leads outside the project/],
    [['--dir', 'linked/deep'], /linked is a symbolic link that leads outside the project/],
    [['--dir', 'dangling'], /dangling is a symbolic link that leads outside the project/],
    [['--dir', 'package.json'], /package.json is a file, not a folder/],
  ])('%j is refused with 2, and nothing is written', async (args, message) => {
    put(manifest())
    mkdirSync(join(above, 'elsewhere'))
    symlinkSync(join(above, 'elsewhere'), join(folder, 'linked'))
    symlinkSync(join(above, 'nothing'), join(folder, 'dangling'))
    const { code, out, err } = await init(...args)
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(message)])
    expect(filesBut('package.json', 'linked', 'dangling')).toEqual([])
    expect(readdirSync(join(above, 'elsewhere'))).toEqual([])
  })

  it.each([
    ['no package.json', {}, /there is no package.json here/],
    ['a broken package.json', { 'package.json': '{' }, /package.json cannot be read: it is no JSON/],
  ])('A folder with %s is refused', async (_name, files, message) => {
    put(files)
    expect(await init()).toMatchObject({ code: 2, err: expect.stringMatching(message) })
  })

  it('A link within the project is followed', async () => {
    put({ ...manifest(), 'code/': '' })
    symlinkSync('code', join(folder, 'src'))
    expect((await init()).code).toBe(0)
    expect(existsSync(join(folder, 'code/events.mjs'))).toBe(true)
  })
})

describe('a write that fails', () => {
  it('The files and folders before it are removed', () => {
    put({ 'kept/mine.ts': 'mine' })
    const files = ['kept/a.ts', 'new/deep/b.ts', 'kept/mine.ts'].map((path) => ({ path, text: 'new' }))
    expect(() => writeFiles(folder, files)).toThrow(/^kept\/mine.ts cannot be written: EEXIST.*; nothing was written$/)
    expect([filesBut(), readdirSync(folder)]).toEqual([['kept/mine.ts'], ['kept']])
    expect(text('kept/mine.ts')).toBe('mine')
  })

  it('A file that is written in part is removed', () => {
    const unwritable = { path: 'new/a.ts', text: Symbol('no text') as never }
    expect(() => writeFiles(folder, [unwritable])).toThrow(/^new\/a.ts cannot be written: .*; nothing was written$/s)
    expect(readdirSync(folder)).toEqual([])
  })
})

import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const require = createRequire(import.meta.url)

/** The base path of the app's second mount of Sallyport. */
export const BASE_PATH = '/notify/v1'

/**
 * Builds a Next.js app in a temporary folder: the documented route file, once as printed and once below {@link
 * BASE_PATH}, the documented configuration, and routes of the host. Each request uses the current
 * `globalThis.sallyportInTest`.
 */
export async function buildNextApp(): Promise<{ dir: string; remove(): void }> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'sallyport-next-')))
  for (const [path, text] of Object.entries(files(dir))) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  mkdirSync(join(dir, 'node_modules'))
  for (const name of ['next', 'react', 'react-dom'])
    symlinkSync(join(root, 'node_modules', name), join(dir, 'node_modules', name))
  const env = { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' } as const
  await promisify(execFile)(process.execPath, [require.resolve('next/dist/bin/next'), 'build'], { cwd: dir, env })
  if (!existsSync(join(dir, '.next/BUILD_ID'))) throw new Error('next build left no build')
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

function files(dir: string): Record<string, string> {
  const route = documented('app/api/[...path]/route.ts')
  const mountPath = route
    .replace('toFetch(sallyport, {', `toFetch(sallyport, { basePath: '${BASE_PATH}',`)
    .replace("'../../../sallyport'", "'../../../../../sallyport'")
  return {
    'package.json': '{ "type": "module" }',
    'jsconfig.json': JSON.stringify({
      compilerOptions: { paths: { 'sallyport/fetch': [relative(dir, join(root, 'src/adapters/fetch.ts'))] } },
    }),
    // The root setting finds files outside the folder; the others make the build quick.
    'next.config.js': `export default {
      turbopack: { root: '/' },
      experimental: { turbopackMinify: false, turbopackFileSystemCacheForBuild: false },
    }`,
    'app/api/[...path]/route.js': route,
    [`app${BASE_PATH}/api/[...path]/route.js`]: mountPath,
    'app/own/json/route.js': 'export const POST = async (request) => Response.json({ own: await request.json() })',
    'app/[[...rest]]/route.js': `const handler = () => new Response('the host itself')
      export { handler as GET, handler as POST, handler as HEAD }`,
    // A build loads this module too but serves nothing.
    'sallyport.js': `const atBuild = { handle() {}, actions: [], open: [] }
      const now = () => globalThis.sallyportInTest?.endpoints ?? atBuild
      const named = (list, name) => now()[list].find((action) => action.name === name)
      const lists = {
        actions: (action) => ({ ...action, run: (call) => named('actions', action.name).run(call) }),
        open: (action) => ({ ...action, find: (...asked) => named('open', action.name)?.find(...asked) }),
      }
      const through = (_, name) => {
        const value = now()[name]
        if (lists[name]) return value?.map(lists[name])
        return typeof value === 'function' ? value.bind(now()) : value
      }
      export const sallyport = { endpoints: new Proxy({}, { get: through }) }`,
  }
}

/** A file as printed in `docs/hosts.md`. */
function documented(path: string): string {
  const page = readFileSync(join(root, 'docs/hosts.md'), 'utf8')
  const [, text] = page.split(`\n// ${path}\n`)
  if (text === undefined) throw new Error(`docs/hosts.md does not show ${path}`)
  return text.slice(0, text.indexOf('\n```'))
}

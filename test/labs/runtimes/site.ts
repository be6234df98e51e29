import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { generateAppSecret } from 'sallyport/auth'
import { execute, installTarball, packTarball } from '../../package/tarball.ts'
import { bundleOwn, textOf } from './bundle.ts'
import type { Site } from './runtime.ts'
import type { Secrets } from './target.ts'

/** Programs that are bundled for runtimes which load packages themselves. */
const PROGRAMS = ['node', 'bun', 'deno']

/** Packages installed beside the package and its peers. */
const BESIDE = ['@hono/node-server', 'hono', '@types/node', '@types/express', '@types/koa']

/** Builds, packs and installs the package in a temporary folder, with the programs of `hosts/`. */
export async function buildSite(): Promise<Site & { remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-runtimes-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const [project, cache] = [join(folder, 'project'), join(folder, 'cache')]
    await cp(new URL('../../package/consumer/', import.meta.url), project, { recursive: true })
    await cp(new URL('consumers/', import.meta.url), project, { recursive: true })
    await copyTypedPlugins(project)
    await cp(new URL('hosts/', import.meta.url), join(project, 'hosts'), { recursive: true })
    await mkdir(cache)
    await writeFile(join(project, 'empty.js'), '')
    await installTarball(await packTarball(folder), project, BESIDE)
    for (const name of PROGRAMS) {
      const bundle = await bundleOwn(join(project, `hosts/${name}.ts`))
      await writeFile(join(project, `${name}.mjs`), textOf(bundle))
    }
    const { names } = JSON.parse(await execute({ cwd: project }, process.execPath, 'load-entries.mjs'))
    return { project, cache, names, secrets: await newSecrets(), remove }
  } catch (error) {
    await remove()
    throw error
  }
}

/** Copies `typed-host.ts` of each plugin that has one, as `typed-<plugin>.ts`. */
async function copyTypedPlugins(project: string): Promise<void> {
  const plugins = new URL('../../plugins/', import.meta.url)
  const files = await readdir(plugins, { recursive: true })
  for (const file of files.filter((path) => path.endsWith('/typed-host.ts')))
    await cp(new URL(file, plugins), join(project, `typed-${dirname(file)}.ts`))
}

async function newSecrets(): Promise<Secrets> {
  const { secret } = await generateAppSecret({ env: 'test' })
  const pairs = { ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }), EdDSA: generateKeyPairSync('ed25519') }
  const keys = Object.entries(pairs).map(([alg, { privateKey }]) => ({
    ...{ kid: alg, alg: alg as keyof typeof pairs },
    key: privateKey.export({ format: 'jwk' }) as Record<string, string>,
  }))
  return {
    appSecret: secret,
    keys: [{ kid: 'HS256', alg: 'HS256', key: randomBytes(32).toString('base64url') }, ...keys],
  }
}

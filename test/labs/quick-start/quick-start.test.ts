/**
 * Pastes the quick start of the README into a shell, in new projects of every kind, with every package manager, in
 * JavaScript and in TypeScript. Requires `curl`, port 3000, and the registry.
 *
 * Packs the package first, or uses the tarball in SALLYPORT_TARBALL. Package managers that cannot be fetched are
 * skipped, and fail with SALLYPORT_REQUIRE_SERVICES=1.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { execute, packTarball } from '../../package/tarball.ts'
import { HANG_MS } from '../../support/unhurried.ts'
import { NotFetched } from '../runtimes/registry.ts'
import { type LoopbackRegistry, serveRegistry } from './loopback-registry.ts'
import { environmentOf, MANAGERS } from './managers.ts'
import { type PasteProject, PROJECTS, pasteInstall, pasteStart } from './paste.ts'
import { readQuickStart } from './readme.ts'

const quickStart = readQuickStart()
let folder: string
let registry: LoopbackRegistry

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-quick-start-'))
  const upstream = (await execute({}, 'npm', 'config', 'get', 'registry')).trim()
  registry = await serveRegistry((await packTarball(folder)).path, upstream)
}, HANG_MS)

afterAll(async () => {
  await registry?.close()
  await rm(folder, { recursive: true, force: true })
})

// One after another, because all of them use the port in the README.
describe.each(MANAGERS)('the quick start with $name', (manager) => {
  it.each(Object.keys(PROJECTS))(
    `The quick start runs with ${manager.name} in a project of %s`,
    async (kind) => {
      const env = await environmentOf(manager, folder, registry.url).catch((error: unknown) => {
        if (!(error instanceof NotFetched) || process.env.SALLYPORT_REQUIRE_SERVICES === '1') throw error
        console.warn(`skipped: ${error.message}`)
      })
      if (!env) return
      const project = join(folder, `${manager.name} ${kind}`.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase())
      await mkdir(project)
      const place: PasteProject = { project, env, manager, quickStart }
      await PROJECTS[kind]?.(place)
      await pasteInstall(place)
      expect(await pasteStart(place, 'JavaScript')).toEqual([])
      expect(await pasteStart(place, 'TypeScript')).toEqual([])
    },
    HANG_MS,
  )
})

/**
 * `npm run quick-start` pastes the quick start of the README into a shell, in new projects of every kind, with every
 * package manager, in JavaScript and in TypeScript. Requires `curl`, port 3000, and the registry.
 *
 * Packs the package first, or uses the tarball in SALLYPORT_TARBALL. Package managers that cannot be fetched are
 * skipped, and count as failed with SALLYPORT_REQUIRE_SERVICES=1.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execute, packTarball } from '../../package/tarball.ts'
import { NotFetched } from '../runtimes/registry.ts'
import { Report } from '../runtimes/report.ts'
import { serveRegistry } from './loopback-registry.ts'
import { environmentOf, MANAGERS, type Manager } from './managers.ts'
import { PROJECTS, pasteInstall, pasteStart } from './paste.ts'
import { readQuickStart } from './readme.ts'

const quickStart = readQuickStart()
const report = new Report(process.env.SALLYPORT_REQUIRE_SERVICES === '1')
const folder = await mkdtemp(join(tmpdir(), 'sallyport-quick-start-'))
const upstream = (await execute({}, 'npm', 'config', 'get', 'registry')).trim()
const tarball = process.env.SALLYPORT_TARBALL ?? (await packTarball(folder)).path
const registry = await serveRegistry(tarball, upstream)
try {
  // One after another, because all of them use the port in the README.
  for (const manager of MANAGERS) await withManager(manager)
} finally {
  await registry.close()
  await rm(folder, { recursive: true, force: true })
}
report.end()
process.exit(report.failed > 0 ? 1 : 0)

async function withManager(manager: Manager): Promise<void> {
  const env = await environmentOf(manager, folder, registry.url).catch((error: unknown) => {
    if (error instanceof NotFetched) return report.skip(manager.name, error.message)
    throw error
  })
  if (!env) return
  for (const [kind, prepare] of Object.entries(PROJECTS)) {
    const project = join(folder, `${manager.name} ${kind}`.replaceAll(/[^a-z0-9]+/gi, '-').toLowerCase())
    await mkdir(project)
    const place = { project, env, manager, quickStart }
    await prepare(place)
      .then(() => pasteInstall(place))
      .catch((error: unknown) => report.fail(manager.name, `${kind}: install`, String(error)))
    for (const language of ['JavaScript', 'TypeScript'] as const) {
      const faults = await pasteStart(place, language).catch((error: unknown) => [String(error)])
      report.group(manager.name, `${kind}, ${language}`, 1, faults.slice(0, 1))
    }
  }
}

import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { HANG_MS } from '../support/unhurried.ts'
import { explain, installTarball, installWithoutPeers, packTarball } from './tarball.ts'

const run = promisify(execFile)

/** The package as a user has it: built, packed, and installed in its own project. */
export interface BuiltPackage {
  /** The files in the tarball, such as `dist/index.js`. */
  readonly files: readonly string[]
  /** The folder of the installed package. */
  readonly installed: string
  /** Runs a program of the project and returns its output. Throws if it fails or prints a warning. */
  node(...args: readonly string[]): Promise<string>
  /** Runs a program of `consumer/` in a project without optional peers. */
  nodeWithoutPeers(...args: readonly string[]): Promise<string>
  remove(): Promise<void>
}

/** Builds, packs and installs in a temporary folder. The project gets the files of `consumer/`. */
export async function buildPackage(): Promise<BuiltPackage> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-package-'))
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  try {
    const tarball = await packTarball(folder)
    const [project, bare] = [join(folder, 'project'), join(folder, 'bare')]
    for (const place of [project, bare]) await cp(new URL('consumer/', import.meta.url), place, { recursive: true })
    await Promise.all([installTarball(tarball, project), installWithoutPeers(tarball, bare)])
    return {
      files: tarball.files,
      installed: join(project, 'node_modules/sallyport'),
      node: (...args) => runNode(project, args),
      nodeWithoutPeers: (...args) => runNode(bare, args),
      remove,
    }
  } catch (error) {
    await remove()
    throw error
  }
}

async function runNode(cwd: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(process.execPath, args, { cwd, timeout: HANG_MS }).catch(explain)
  if (stderr !== '') throw new Error(stderr)
  return stdout
}

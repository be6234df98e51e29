import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readJson } from '../../support/entries.ts'
import { npm } from './npm.ts'

/**
 * The packages installed with the package, listed by npm from the lock file. Development dependencies are removed from
 * the lock file first: `npm sbom --omit=dev` (10 and 11) also omits packages that a development dependency shares,
 * which are most of ours.
 */
export async function sbom(format: 'cyclonedx' | 'spdx'): Promise<string> {
  const scratch = await mkdtemp(join(tmpdir(), 'sallyport-sbom-'))
  try {
    // npm takes the name of the package from its folder.
    const folder = join(scratch, 'sallyport')
    await mkdir(folder)
    const { devDependencies, scripts, overrides, ...manifest } = readJson('package.json')
    await writeFile(join(folder, 'package.json'), JSON.stringify(manifest))
    await writeFile(join(folder, 'package-lock.json'), JSON.stringify(productionLock()))
    const { stdout, code } = await npm(folder, 'sbom', '--package-lock-only', `--sbom-format=${format}`)
    if (code !== 0) throw new Error(stdout)
    return stdout
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

function productionLock(): unknown {
  const lock = readJson('package-lock.json')
  const { devDependencies, ...root } = lock.packages['']
  const entries = Object.entries<{ dev?: boolean; devOptional?: boolean }>(lock.packages)
  const kept = entries.filter(([location, { dev, devOptional }]) => location !== '' && !dev && !devOptional)
  return { ...lock, packages: { '': root, ...Object.fromEntries(kept) } }
}

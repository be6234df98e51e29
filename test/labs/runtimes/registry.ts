import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { npmInstall } from '../../package/tarball.ts'

/** Why something that the registry should have is not here. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
}

/**
 * Fetches a package, `bun@1.4.5`, into a folder of its own, and gives the folder that it is in. No script of it is run.
 *
 * @throws {NotFetched} There is no registry, or it has none of these.
 */
export async function fetchPackage(tenantIndexes: string, name: string, version: string): Promise<string> {
  const folder = join(tenantIndexes, `${name}-${version}`.replaceAll('/', '-'))
  await mkdir(folder, { recursive: true })
  await npmInstall(folder, '--ignore-scripts', `${name}@${version}`).catch((error: unknown) => {
    throw new NotFetched(`npm could not install ${name}@${version}: ${reason(String(error))}`)
  })
  return join(folder, 'node_modules', name)
}

/** The lines in which npm says why. */
function reason(text: string): string {
  const lines = text.split('\n').filter((line) => /^npm (?:error|ERR!) (?!A complete log)/.test(line))
  return (
    lines
      .slice(0, 3)
      .join(' ')
      .replaceAll(/npm (?:error|ERR!) /g, '') ||
    text.split('\n')[0] ||
    ''
  )
}

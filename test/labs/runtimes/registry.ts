import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { npmInstall } from '../../package/tarball.ts'

/** The reason why a package of the registry is not available. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched'
}

/**
 * Fetches a package, `bun@1.4.5`, into its own folder, and gives that folder. Runs no install script.
 *
 * @throws {NotFetched} The registry is unavailable, or lacks the package.
 */
export async function fetchPackage(cache: string, name: string, version: string): Promise<string> {
  const folder = join(cache, `${name}-${version}`.replaceAll('/', '-'))
  await mkdir(folder, { recursive: true })
  await npmInstall(folder, '--ignore-scripts', `${name}@${version}`).catch((error: unknown) => {
    throw new NotFetched(`npm could not install ${name}@${version}: ${reason(String(error))}`)
  })
  return join(folder, 'node_modules', name)
}

/** The lines in which npm gives the reason. */
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

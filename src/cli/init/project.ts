import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../terminal.ts'

/** Frameworks for which there is code, in the order in which a project's is chosen. */
export const FRAMEWORKS = ['next', 'fastify', 'hono', 'koa', 'express', 'node'] as const
export type Framework = (typeof FRAMEWORKS)[number]

/** A project that gets new files. */
export interface Project {
  readonly framework: Framework
  readonly isTypeScript: boolean
  /** Extension of new files. */
  readonly extension: '.ts' | '.js' | '.mjs'
  /** End of the path by which new files import one another. */
  readonly imported: '' | '.ts' | '.js' | '.mjs'
  /** Folder of the code: `src`, or `''` for the project's own. */
  readonly folder: 'src' | ''
  /** Names of the packages in `package.json`. */
  readonly packages: ReadonlySet<string>
}

/**
 * Reads `package.json` and the folders of a project.
 *
 * @param named Framework that the user names. Default: the first of {@link FRAMEWORKS} in `package.json`, otherwise `node`.
 * @throws {UsageError} The folder has no `package.json`, or one that is no JSON.
 */
export function readProject(root: string, named: Framework | undefined): Project {
  const { type, ...manifest } = readManifest(root)
  const packages = new Set(
    ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'].flatMap((group) =>
      Object.keys(Object(manifest[group])),
    ),
  )
  const framework = named ?? FRAMEWORKS.find((each) => packages.has(each)) ?? 'node'
  const isTypeScript = existsSync(join(root, 'tsconfig.json')) || packages.has('typescript')
  const extension = isTypeScript ? '.ts' : framework === 'next' || type === 'module' ? '.js' : '.mjs'
  return {
    ...{ framework, isTypeScript, extension, packages },
    imported: isTypeScript ? importedTypeScript(root, framework) : extension,
    folder: framework === 'next' ? nextFolder(root) : existsSync(join(root, 'src')) ? 'src' : '',
  }
}

function readManifest(root: string): Readonly<Record<string, unknown>> {
  const file = join(root, 'package.json')
  if (!existsSync(file)) throw new UsageError('there is no package.json here: run init in the folder of your project')
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, '')))
  } catch {
    throw new UsageError('package.json cannot be read: it is no JSON')
  }
}

/** Next resolves paths without an extension. Other projects import the compiled file, unless their compiler takes `.ts`. */
function importedTypeScript(root: string, framework: Framework): Project['imported'] {
  if (framework === 'next') return ''
  const file = join(root, 'tsconfig.json')
  const takesTypeScript = /"(?:allowImportingTsExtensions|rewriteRelativeImportExtensions)"\s*:\s*true/
  return existsSync(file) && takesTypeScript.test(readFileSync(file, 'utf8')) ? '.ts' : '.js'
}

/** Next ignores `src/app` if there is an `app`. */
function nextFolder(root: string): Project['folder'] {
  const isThere = (name: string): boolean => existsSync(join(root, name))
  if (isThere('app') || isThere('pages')) return ''
  return isThere('src') ? 'src' : ''
}

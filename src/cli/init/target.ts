import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { printable } from '../table.ts'
import { UsageError } from '../terminal.ts'
import { ROUTE_FOLDER } from './next-files.ts'

/**
 * Path of a folder within a project, from its root.
 *
 * @throws {UsageError} It is outside.
 */
export function pathWithin(root: string, given: string): string {
  const path = relative(root, resolve(root, given))
  if (given === '' || isOutside(path)) throw new UsageError('--dir must be a folder inside the project')
  return path
}

/**
 * Checks that a new file lands in the project itself.
 *
 * @throws {UsageError} A folder of its path is a file, or a symbolic link out of the project.
 */
export function checkTarget(root: string, path: string): void {
  let folder = dirname(path)
  while (!isThere(join(root, folder))) folder = dirname(folder)
  const real = realPath(join(root, folder))
  if (real === undefined || isOutside(relative(realpathSync(root), real)))
    throw new UsageError(`${printable(folder)} is a symbolic link that leads outside the project`)
  if (!statSync(real).isDirectory()) throw new UsageError(`${printable(folder)} is a file, not a folder`)
}

/** Files that stand where a new one would, whatever their extension, or that Next allows no route beside. */
export function filesInTheWay(root: string, path: string): readonly string[] {
  const withoutExtension = path.replace(/\.\w+$/, '')
  const names = [withoutExtension, ...(isRoute(path) ? [withoutExtension.replace(/route$/, 'page')] : [])]
  const same = names.flatMap((name) => EXTENSIONS.map((extension) => name + extension))
  return [...same.filter((each) => isThere(join(root, each))), ...(isRoute(path) ? otherRoutes(root, path) : [])]
}

const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs']

function isRoute(path: string): boolean {
  return dirname(path).split(sep).join('/').endsWith(ROUTE_FOLDER)
}

/** Next builds with one dynamic folder per folder, of both routers: `[...path]` beside `[[...slug]]` fails. */
function otherRoutes(root: string, path: string): readonly string[] {
  const api = dirname(dirname(path))
  const folders = [api, join(dirname(dirname(api)), 'pages/api')].filter((folder) => existsSync(join(root, folder)))
  return folders
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .filter((each) => basename(each).startsWith('[') && each !== dirname(path))
}

function isOutside(path: string): boolean {
  return path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)
}

/** True also for a symbolic link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function realPath(path: string): string | undefined {
  return existsSync(path) ? realpathSync(path) : undefined
}

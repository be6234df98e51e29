import { closeSync, mkdirSync, openSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Writes new files and their folders, all or none. Overwrites nothing, and follows no link in place of a file.
 *
 * @throws {Error} One cannot be written. Names the files that could not be removed again.
 */
export function writeFiles(root: string, files: readonly { readonly path: string; readonly text: string }[]): void {
  const written: string[] = []
  const folders: string[] = []
  for (const { path, text } of files) {
    try {
      folders.push(...newFolders(join(root, dirname(path))))
      const file = openSync(join(root, path), 'wx')
      written.push(path)
      writeAndClose(file, text)
    } catch (cause) {
      const left = written.filter((each) => !isRemoved(() => rmSync(join(root, each))))
      for (const folder of folders.reverse()) isRemoved(() => rmdirSync(folder))
      const detail = cause instanceof Error ? cause.message : String(cause)
      const state = left.length === 0 ? 'nothing was written' : `remove yourself: ${left.join(', ')}`
      throw new Error(`${path} cannot be written: ${detail}; ${state}`, { cause })
    }
  }
}

function writeAndClose(file: number, text: string): void {
  try {
    writeFileSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** Creates a folder. Gives the created ones, outermost first. */
function newFolders(folder: string): readonly string[] {
  const first = mkdirSync(folder, { recursive: true })
  if (first === undefined) return []
  const created = [folder]
  for (let each = folder; each !== first; each = dirname(each)) created.unshift(dirname(each))
  return created
}

function isRemoved(remove: () => void): boolean {
  try {
    remove()
    return true
  } catch {
    return false
  }
}

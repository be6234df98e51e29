import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Texts of all files in a folder with one of these endings. */
async function textsBelow(folder: string, ...endings: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(join(ROOT, folder), { recursive: true })
  const paths = names
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => join(folder, name))
  return new Map(
    await Promise.all(paths.map(async (path) => [path, await readFile(join(ROOT, path), 'utf8')] as const)),
  )
}

function linesOf(text: string): number {
  return text.split('\n').length - 1
}

export async function linesOfSource(): Promise<number> {
  const texts = await textsBelow('src', '.ts', '.tsx')
  return [...texts.values()].reduce((sum, text) => sum + linesOf(text), 0)
}

/** Words of the README and of all pages in `docs`, code included. */
export async function wordsOfDocs(): Promise<number> {
  // `docs/api` is the built site.
  const guides = [...(await textsBelow('docs', '.md'))].filter(([path]) => !path.startsWith(join('docs', 'api')))
  const pages = [await readFile(join(ROOT, 'README.md'), 'utf8'), ...guides.map(([, text]) => text)]
  return pages.reduce((sum, text) => sum + (text.match(/\S+/g)?.length ?? 0), 0)
}

/** Lines of each example of a custom store. */
export async function linesOfCustomStores(): Promise<ReadonlyMap<string, number>> {
  const names = ['documents-json-file.ts', 'documents-redis.ts']
  const texts = await textsBelow('docs/examples', '.ts')
  return new Map(names.map((name) => [name, linesOf(texts.get(join('docs/examples', name)) ?? '')]))
}

/**
 * Names that two or more files of `src` declare and export, with these files. Overloads and merged declarations count
 * once.
 */
export async function namesExportedTwice(): Promise<ReadonlyMap<string, readonly string[]>> {
  const files = new Map<string, Set<string>>()
  for (const [path, text] of await textsBelow('src', '.ts', '.tsx'))
    for (const name of exportedNames(ts.createSourceFile(path, text, ts.ScriptTarget.Latest)))
      files.set(name, (files.get(name) ?? new Set()).add(path))
  return new Map([...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => [name, [...paths].sort()]))
}

function exportedNames(source: ts.SourceFile): readonly string[] {
  return source.statements.flatMap((statement) => {
    if (!ts.canHaveModifiers(statement)) return []
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return []
    const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement]
    return declared.flatMap((one) => {
      const name = 'name' in one ? (one.name as ts.Node | undefined) : undefined
      return name && ts.isIdentifier(name) ? name.text : []
    })
  })
}

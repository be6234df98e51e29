import { dirname, extname, parse } from 'node:path'

/**
 * Tests of a folder or file that do not stand in its mirror. They belong to everything below it too. `/*` at the end: the
 * files of a folder, without those of its folders.
 */
export const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  '.ci': ['test/package/workflows.test.ts'],
  '.github': ['test/docs/contributing.test.ts', 'test/package/workflows.test.ts'],
  'docs/examples': ['test/demo.test.ts'],
  'package.json': ['test/package'],
  'README.md': ['test/docs'],
  'src/code-texts.ts': ['test/docs/code-texts.test.ts', 'test/docs/errors.test.ts'],
  'src/core/actions': ['test/openapi/reads.test.ts', 'test/actions/read-api.test.ts'],
  'src/errors.ts': ['test/core/answers/errors.test.ts', 'test/docs/errors.test.ts', 'test/openapi/problems.test.ts'],
  'src/index.ts': ['test/package/entries.test.ts', 'test/package/public-names.test.ts'],
  'src/ports': ['test/contract-tests'],
  // One file for each operation, on several stores.
  'src/storage': ['test/storage/*'],
  // The memory store runs the contract there, with these rules.
  'src/storage/memory': ['test/contract-tests'],
  'src/storage/rules': ['test/contract-tests'],
}

const TEST_FILE = /\.test\.ts$/

/**
 * The test files that mirror folders or files.
 *
 * A folder `src/a` has those below `test/a`. A file `src/a/b.ts` has `test/a/b.test.ts`, `test/a/b-*.test.ts` and those
 * below `test/a/b`, or if there are none, those below `test/a`. What has no mirror has that of its nearest parent. A page
 * of `docs` has those below `test/docs`. {@link ELSEWHERE} adds others. A path below `test` stands for itself; a file
 * there that is not a test stands for its folder.
 *
 * @param paths From the root of the package, without `/` at the end.
 * @param testFiles All test files.
 * @throws For a path without tests.
 */
export function testsNear(paths: readonly string[], testFiles: readonly string[]): string[] {
  const found = paths.flatMap((path) => {
    const tests = isBelow(path, 'test') ? ownTests(path, testFiles) : mirrored(path, testFiles)
    if (tests.length === 0) throw new Error(`${path} has no tests: ${lookedFor(path)}`)
    return tests
  })
  return [...new Set(found)].sort()
}

function ownTests(path: string, testFiles: readonly string[]): readonly string[] {
  return below(isFile(path) && !TEST_FILE.test(path) ? dirname(path) : path, testFiles)
}

function mirrored(path: string, testFiles: readonly string[]): readonly string[] {
  const places = [path, ...parents(path)]
  const home = places.find((place) => [...inMirror(place, place, testFiles), ...elsewhere(place, testFiles)].length > 0)
  if (home === undefined) return []
  const around = isSource(path) ? testFiles.filter((test) => isNamed(test, path) && isAround(test, path)) : []
  const within = Object.keys(ELSEWHERE).filter((place) => isBelow(place, path))
  const others = [...places, ...within].flatMap((place) => elsewhere(place, testFiles))
  return [...inMirror(home, path, testFiles), ...around, ...others]
}

/** The tests in the mirror of a folder that are named after a file of it, or all if there are none. */
function inMirror(folder: string, path: string, testFiles: readonly string[]): readonly string[] {
  const mirror = isFile(folder) ? undefined : mirrorOf(folder)
  const tests = mirror === undefined ? [] : below(mirror, testFiles)
  const named = isSource(path) ? tests.filter((test) => isNamed(test, path)) : []
  return named.length > 0 ? named : tests
}

function elsewhere(place: string, testFiles: readonly string[]): readonly string[] {
  return (ELSEWHERE[place] ?? []).flatMap((where) =>
    where.endsWith('/*') ? testFiles.filter((test) => dirname(test) === where.slice(0, -2)) : below(where, testFiles),
  )
}

/** Whether a test is of a file, by its name or folder. */
function isNamed(test: string, path: string): boolean {
  const { name } = parse(path)
  const own = parse(test).base.replace(TEST_FILE, '')
  return own === name || own.startsWith(`${name}-`) || isBelow(test, `${mirrorOf(dirname(path))}/${name}`)
}

/** Whether a test stands in a folder around the mirror of a file. */
function isAround(test: string, path: string): boolean {
  const mirror = mirrorOf(dirname(path))
  return mirror !== undefined && isBelow(mirror, dirname(test))
}

/** All of `test` is the mirror of `src` alone: a file or folder without a mirror does not stand for it. */
function parents(path: string): readonly string[] {
  const folder = dirname(path)
  return folder === '.' || folder === 'src' ? [] : [folder, ...parents(folder)]
}

function mirrorOf(place: string): string | undefined {
  return isBelow(place, 'src') ? `test${place.slice('src'.length)}` : isBelow(place, 'docs') ? 'test/docs' : undefined
}

function lookedFor(path: string): string {
  if (isBelow(path, 'test')) return `looked for ${isFile(path) ? dirname(path) : path}`
  const folder = isFile(path) ? dirname(path) : path
  if (folder === 'src') return `looked for ${mirrorOf(path.replace(/\.tsx?$/, '.test.ts'))}`
  const mirror = mirrorOf(folder)
  return mirror === undefined ? 'only src, docs and test have mirrors' : `looked for ${mirror}`
}

function below(place: string, testFiles: readonly string[]): readonly string[] {
  return testFiles.filter((test) => isBelow(test, place))
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

function isSource(path: string): boolean {
  return isBelow(path, 'src') && isFile(path)
}

function isFile(path: string): boolean {
  return extname(path) !== ''
}

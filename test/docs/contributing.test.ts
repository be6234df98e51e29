import { existsSync, readdirSync, readFileSync } from 'node:fs'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { ROOT, readJson } from '../support/entries.ts'

const page = readFileSync(new URL('.github/CONTRIBUTING.md', ROOT), 'utf8')
const { scripts } = readJson('package.json')

const BLOCK = /^```\w+\n(.*?)^```$/gms
const commandsInBlocks = [...page.matchAll(BLOCK)].flatMap(([, code = '']) =>
  code.split('\n').map((line) => line.replace(/\s*#.*/, '')),
)
const spans = [...page.replaceAll(BLOCK, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll('\n', ' '))
const code = [...spans, ...commandsInBlocks].filter((text) => text !== '')

const filesBelow = (folder: string): string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}${name}`)
const files = ['src/', 'test/', 'docs/', '.github/'].flatMap(filesBelow)
const sources = files
  .filter((path) => /^(?:src|test|docs\/examples)\/.*\.tsx?$/.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, ROOT), 'utf8') }))

/** The different matches of a pattern in the code of the page. */
function named(pattern: RegExp): readonly string[] {
  const found = code.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  expect(found.length).toBeGreaterThan(0)
  return [...new Set(found)]
}

describe('the guide for contributors', () => {
  // test/docs/site.test.ts checks its links.
  it('Every path of CONTRIBUTING.md exists', () => {
    const paths = named(/(?:^|\s)([\w.][\w./<>-]*(?:\/|\.(?:ts|json|md|yml)|\/\w+))(?=\s|$)/g)
    expect(paths.filter((path) => !isThere(path))).toEqual([])
  })

  it('Every script of CONTRIBUTING.md is in package.json', () => {
    const called = [...page.matchAll(/\bnpm (?:run ([\w:-]+)|(test)\b)/g)].map(([, run, test]) => run ?? test ?? '')
    expect(called.length).toBeGreaterThan(20)
    expect(called.filter((name) => !(name in scripts))).toEqual([])
  })

  it('Every program that CONTRIBUTING.md starts with npx is installed', () => {
    const programs = named(/\bnpx ([\w-]+)/g)
    expect(programs.filter((name) => !existsSync(new URL(`node_modules/.bin/${name}`, ROOT)))).toEqual([])
  })

  it('Every variable of CONTRIBUTING.md is read by code', () => {
    const variables = named(/\b([A-Z]+(?:_[A-Z]+)+)=/g)
    const read = new Set(sources.flatMap(({ text }) => text.match(/(?<=process\.env\.)\w+/g) ?? []))
    expect(variables.filter((name) => !read.has(name))).toEqual([])
  })

  it('Every name of CONTRIBUTING.md is an identifier of code', () => {
    const names = named(/^([A-Z][A-Z_]+|[A-Z]?[a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]+)$/g)
    expect(names.length).toBeGreaterThan(15)
    expect(names.filter((name) => !isIdentifier(name))).toEqual([])
  })
})

/** Whether a path, or the end of one, exists; `<name>` stands for any name. `npm run release` writes the changelog. */
function isThere(path: string): boolean {
  if (existsSync(new URL(path, ROOT)) || scripts.release.includes(` ${path} `)) return true
  const end = new RegExp(`(?:^|/)${path.replaceAll('.', '\\.').replaceAll(/<\w+>/g, '[\\w-]+')}$`)
  return files.some((file) => end.test(file))
}

function isIdentifier(name: string): boolean {
  return sources.some(({ path, text }) => {
    if (!text.includes(name)) return false
    const visit = (node: ts.Node): boolean =>
      (ts.isIdentifier(node) && node.text === name) || (ts.forEachChild(node, visit) ?? false)
    return visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest))
  })
}

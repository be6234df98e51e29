import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { LAYERS, layerOf } from './layers.ts'
import { nodesOf, parse, placeOf, readSources, type Source } from './source.ts'

/** Globals whose results vary with time or place. Such values come in through ports. */
const IMPURE = new Set([
  ...['clearInterval', 'clearTimeout', 'setImmediate', 'setInterval', 'setTimeout', 'performance'],
  ...['Buffer', 'Bun', 'Deno', 'console', 'navigator', 'process', 'require'],
  ...['global', 'globalThis', 'self', 'window'],
  ...['EventSource', 'WebSocket', 'XMLHttpRequest', 'fetch'],
])

/** The pure members of partly pure globals. */
const PARTLY_PURE: Readonly<Record<string, readonly string[]>> = {
  Date: ['UTC', 'parse'],
  crypto: ['subtle'],
}

/** The impure members of partly impure globals. */
const PARTLY_IMPURE: Readonly<Record<string, readonly string[]>> = {
  Math: ['random'],
}

const sources = readSources()
const pure = sources.filter(({ path }) => LAYERS[layerOf(path)]?.pure)

describe('the pure layers', () => {
  it('The pure layers use no clock, randomness, timer, environment or network', () => {
    expect(pure.length).toBeGreaterThan(0)
    expect(pure.flatMap(impurities)).toEqual([])
  })

  it.each([
    'Date.now()',
    'new Date()',
    'new Date',
    'Date()',
    'const { now } = Date',
    'Math.random()',
    'setTimeout(() => {}, 1)',
    'const wait = setInterval',
    'process.env.SECRET',
    'fetch("https://example.com")',
    'globalThis.fetch',
    'performance.now()',
    'crypto.getRandomValues(new Uint8Array(8))',
    'crypto.randomUUID()',
    'console.log(1)',
    'run({ fetch })',
  ])('The check finds the impure code: %s', (code) => {
    expect(impurities(parse('src/core/plan.ts', code))).toEqual([expect.stringContaining('src/core/plan.ts:1')])
  })

  it.each([
    'new Date(ms)',
    'Date.parse(text)',
    'Date.UTC(2026, 0)',
    'clock.now()',
    'Math.max(1, 2)',
    'crypto.subtle.digest("SHA-256", bytes)',
    'json.process(1)',
    'const done = { process: 1 }',
    'type Now = Date',
    '// Date.now() is the clock’s',
    '"Math.random()"',
  ])('The check accepts the pure code: %s', (code) => {
    expect(impurities(parse('src/core/plan.ts', code))).toEqual([])
  })
})

describe('importing a file', () => {
  it('Every file of src only declares: an import does no work, except in the programs of the command line and the browser', () => {
    const working = sources
      .filter(({ path }) => path !== 'src/cli/main.ts' && !path.startsWith('src/console/app/'))
      .flatMap((source) =>
        source.ast.statements
          .filter((statement) => !isDeclaration(statement))
          .map((statement) => placeOf(source, statement)),
      )
    expect(working).toEqual([])
  })
})

function impurities(source: Source): string[] {
  return nodesOf(source.ast).flatMap((node) =>
    ts.isIdentifier(node) && isValue(node) && isImpure(node)
      ? `${placeOf(source, node)} uses ${node.parent.getText()}`
      : [],
  )
}

function isImpure(node: ts.Identifier): boolean {
  if (IMPURE.has(node.text)) return true
  const { parent } = node
  const member = ts.isPropertyAccessExpression(parent) && parent.expression === node ? parent.name.text : undefined
  const allowed = own(PARTLY_PURE, node.text)
  if (allowed) return !(isDateOf(parent) || (member !== undefined && allowed.includes(member)))
  return own(PARTLY_IMPURE, node.text)?.includes(member ?? '') ?? false
}

/** `new Date(…)` with an argument. */
function isDateOf(node: ts.Node): boolean {
  return ts.isNewExpression(node) && (node.arguments?.length ?? 0) > 0
}

/** Whether a name stands for a value, not for a member, a key or a type. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node
  if (ts.isTypeReferenceNode(parent) || ts.isQualifiedName(parent) || ts.isExpressionWithTypeArguments(parent))
    return false
  return !('name' in parent && parent.name === node) || ts.isShorthandPropertyAssignment(parent)
}

function own<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined
}

function isDeclaration(node: ts.Statement): boolean {
  return (
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isVariableStatement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isModuleDeclaration(node)
  )
}

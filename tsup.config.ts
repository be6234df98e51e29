import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import type { Options } from 'tsup'
import ts from 'typescript'
import { packageDocs } from './docs/site/portable.ts'
import { builtAs, ENTRIES, PEER_ENTRIES, type PeerEntry } from './test/package/entries.ts'

/** One bundle per entry of the package, and the command line. */
const bundles: Record<string, string> = {
  ...Object.fromEntries(Object.entries(ENTRIES).map(([name, { source }]) => [builtAs(name), `./${source}`])),
  cli: './src/cli/main.ts',
}

interface ConsoleAssets {
  readonly script: string
  readonly style: string
  readonly preview: { readonly script: string; readonly hash: string }
  readonly files: Readonly<Record<string, string>>
}

type Plugin = NonNullable<Options['esbuildPlugins']>[number]

/**
 * Builds the entries of {@link PEER_ENTRIES} for Node, as `*.node.js`. Node links static imports before any code runs, so that only `require`
 * can turn a missing peer into an error of ours. Bundlers and other runtimes get the plain build: they need the static import.
 *
 * A second copy is made of the entry's file and of those beside it whose name begins like it (`liquid.ts`, `liquid-tags.ts`).
 */
const peersForNode: Plugin = {
  name: 'peers-for-node',
  setup({ initialOptions, onResolve, onLoad }) {
    const forNode = PEER_ENTRIES.map((one) => [`${builtAs(one.entry)}.node`, `for-node:${one.source}`])
    initialOptions.entryPoints = { ...(initialOptions.entryPoints as typeof bundles), ...Object.fromEntries(forNode) }

    onResolve({ filter: /^for-node:/ }, ({ path }) => {
      const file = path.replace('for-node:', '')
      return { path: file, namespace: 'for-node', pluginData: peerOf(file) }
    })
    onResolve({ filter: /^\./, namespace: 'for-node' }, ({ path, importer, pluginData }) => {
      const file = posix.join(posix.dirname(importer), path)
      const { start }: LoadedPeer = pluginData
      return file.startsWith(start) ? { path: file, namespace: 'for-node', pluginData } : { path: resolve(file) }
    })
    onLoad({ filter: /.*/, namespace: 'for-node' }, async ({ path, pluginData }) => ({
      contents: withDroppableConstants(path, withLoadedPeer(path, await readFile(path, 'utf8'), pluginData)),
      loader: 'ts',
      resolveDir: resolve('.'),
      pluginData,
    }))

    onResolve({ filter: /^peer:/, namespace: 'for-node' }, ({ path, pluginData }) => {
      return { path: path.replace('peer:', ''), namespace: 'peer', pluginData }
    })
    onLoad({ filter: /.*/, namespace: 'peer' }, ({ pluginData }) => ({
      contents: loadingModule(pluginData),
      resolveDir: resolve('.'),
    }))
  },
}

interface LoadedPeer extends PeerEntry {
  /** What the paths of the entry's files begin with. */
  readonly start: string
}

function peerOf(file: string): LoadedPeer {
  const found = PEER_ENTRIES.find(({ source }) => source === file)
  if (!found) throw new Error(`${file} is not the file of an entry with a peer`)
  return { ...found, start: file.replace(/\.ts$/, '') }
}

/** The literal `require` is what tools look for that copy a deployment's files. */
function loadingModule({ entry, peer, install }: LoadedPeer): string {
  return `
    import { createRequire } from 'node:module'
    import { loadPeer } from './src/runtime/load-peer.ts'
    const require = createRequire(import.meta.url)
    const about = { entry: '${entry}', peer: '${peer}', install: '${install}' }
    export const peer = loadPeer(about, () => require('${peer}'), () => require.resolve('${peer}'))`
}

/** `import { type A, b as c } from 'liquidjs'` becomes `import { peer } from 'peer:liquidjs'` and `const { b: c } = peer`. */
function withLoadedPeer(path: string, text: string, { peer }: LoadedPeer): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
  const replaced = source.statements.filter(ts.isImportDeclaration).flatMap((declaration) => {
    const { moduleSpecifier, importClause } = declaration
    const isPeer = ts.isStringLiteral(moduleSpecifier) && moduleSpecifier.text === peer
    return isPeer && !importClause?.isTypeOnly ? [declaration] : []
  })
  if (replaced.length === 0) return text
  const body = replaced.reduceRight(
    (whole, declaration) =>
      whole.slice(0, declaration.getStart(source)) + bindingsOf(declaration) + whole.slice(declaration.end),
    text,
  )
  return `import { peer } from 'peer:${peer}'\n${body}`
}

function bindingsOf({ importClause }: ts.ImportDeclaration): string {
  const bindings = importClause?.namedBindings
  if (!bindings) throw new Error('a peer is imported by names or as a namespace')
  if (ts.isNamespaceImport(bindings)) return `const ${bindings.name.text} = peer`
  const values = bindings.elements.filter(({ isTypeOnly }) => !isTypeOnly)
  const names = values.map(({ name, propertyName }) => `${propertyName?.text ?? name.text}: ${name.text}`)
  return `const { ${names.join(', ')} } = peer`
}

/**
 * Says of every constant what `sideEffects: false` says of whole files: that working it out does nothing else. A file of the
 * build holds many modules, and without this a bundler keeps the constants of all of them, and whatever these call.
 */
const droppableConstants: Plugin = {
  name: 'droppable-constants',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/.+\.ts$/ }, async ({ path }) => ({
      contents: withDroppableConstants(path, await readFile(path, 'utf8')),
      loader: 'ts',
    }))
  },
}

/**
 * `const a = f()` becomes `const a = (() => (f()))()`, called pure. A minifier undoes that where it keeps the constant: a
 * host's may, this build must not minify.
 */
function withDroppableConstants(path: string, text: string): string {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
  const values = source.statements
    .filter(ts.isVariableStatement)
    .flatMap(({ declarationList }) => declarationList.declarations.flatMap(({ initializer }) => initializer ?? []))
  return values.filter(isWorkedOut).reduceRight((whole, value) => {
    const [from, to] = [value.getStart(source), value.end]
    return `${whole.slice(0, from)}/* @__PURE__ */ (() => (${whole.slice(from, to)}))()${whole.slice(to)}`
  }, text)
}

/** Whether something is called, read or reckoned when the module loads, which might do anything. */
function isWorkedOut(node: ts.Node): boolean {
  if (ts.isFunctionLike(node) || ts.isTypeNode(node)) return false
  return WORK.has(node.kind) || (ts.forEachChild(node, isWorkedOut) ?? false)
}

const WORK: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.CallExpression,
  ts.SyntaxKind.NewExpression,
  ts.SyntaxKind.PropertyAccessExpression,
  ts.SyntaxKind.ElementAccessExpression,
  ts.SyntaxKind.SpreadElement,
  ts.SyntaxKind.SpreadAssignment,
  ts.SyntaxKind.BinaryExpression,
  ts.SyntaxKind.TemplateExpression,
])

/** Builds the files of the console from `src/console/app`, for the import `sallyport:console-assets`. */
export async function buildConsole(): Promise<ConsoleAssets> {
  const shared = {
    ...{ bundle: true, minify: true, write: false, format: 'esm', target: 'es2022', legalComments: 'inline' },
    ...{ jsx: 'automatic', jsxImportSource: 'preact', charset: 'utf8', absWorkingDir: fileURLToPath(APP) },
  } as const satisfies BuildOptions
  const [app, preview] = await Promise.all([
    build({ ...shared, entryPoints: ['main.tsx'], splitting: true, outdir: 'assets', entryNames: '[name]-[hash]' }),
    build({ ...shared, entryPoints: ['preview.ts'], format: 'iife' }),
  ])
  const files = Object.fromEntries(app.outputFiles.map(({ path, text }) => [basename(path), NOTICE + text]))
  const named = (end: string): string =>
    Object.keys(files).find((name) => /^main-/.test(name) && name.endsWith(end)) ?? ''
  const script = preview.outputFiles[0]?.text.trim() ?? ''
  const hash = createHash('sha256').update(script).digest('base64')
  return { script: named('.js'), style: named('.css'), preview: { script, hash }, files }
}

const APP = new URL('src/console/app/', import.meta.url)

/** The licences of what is bundled ask for it. */
const NOTICE = '/*! Contains Preact (c) 2015 Jason Miller and uPlot (c) 2022 Leon Sorokin, both MIT */\n'

const consoleAssets: Plugin = {
  name: 'console-assets',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^sallyport:console-assets$/ }, ({ path }) => ({ path, namespace: 'console-assets' }))
    onLoad({ filter: /.*/, namespace: 'console-assets' }, async () => ({
      contents: `export const CONSOLE_ASSETS = ${JSON.stringify(await buildConsole())}`,
    }))
  },
}

/** Writes the guides as Markdown beside the build: people and coding agents read them where they work. */
const docs: Plugin = {
  name: 'docs',
  setup({ initialOptions: { outdir = 'dist' }, onEnd }) {
    onEnd(async () => {
      for (const [name, text] of packageDocs()) {
        const path = join(outdir, 'docs', name)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, text)
      }
    })
  },
}

const config: Options = {
  entry: bundles,
  format: 'esm',
  target: ['node20', 'es2023'],
  platform: 'node',
  // Runtimes other than Node know its modules by their prefix alone.
  removeNodeProtocol: false,
  splitting: true,
  clean: true,
  esbuildPlugins: [peersForNode, droppableConstants, consoleAssets, docs],
  dts: { compilerOptions: { ignoreDeprecations: '6.0' } },
}

export default config

import { createRequire } from 'node:module'

interface Message {
  readonly text: string
}

interface BuildOptions {
  readonly stdin?: { readonly contents: string; readonly resolveDir: string }
  readonly entryPoints?: readonly string[]
  readonly packages?: 'external'
  readonly external?: readonly string[]
  readonly alias?: Readonly<Record<string, string>>
  readonly platform: 'node' | 'browser'
  readonly conditions?: readonly string[]
}

type Build = (options: BuildOptions & Record<string, unknown>) => Promise<{
  readonly outputFiles: readonly { readonly text: string }[]
}>

// A dependency of tsup.
const { build }: { build: Build } = createRequire(createRequire(import.meta.url).resolve('tsup/package.json'))(
  'esbuild',
)

/** A whole program as one text, or the errors of the bundler. */
export type Bundle = { readonly text: string } | { readonly errors: readonly string[] }

/** For runtimes with `node_modules`: Node, Bun, Deno. Bundles only our own files. */
export function bundleOwn(file: string): Promise<Bundle> {
  return bundle({ entryPoints: [file], packages: 'external', platform: 'node' })
}

/** A file, or a text in a folder. */
export type Source = { readonly file: string } | { readonly text: string; readonly folder: string }

/** Treatment of Node's modules, which a bundler for workerd lacks. Default: an error. */
export interface NodeModules {
  /** Modules to resolve at run time. */
  readonly leaves?: readonly string[]
  /** An empty file that replaces them, as in some bundlers. */
  readonly strips?: string
}

const STRIPPED = ['node:crypto', 'node:dns/promises', 'node:http', 'node:https']

/** Bundles for workerd like wrangler, with all packages included. */
export function bundleWorker(source: Source, { leaves = [], strips }: NodeModules = {}): Promise<Bundle> {
  return bundle({
    ...('file' in source
      ? { entryPoints: [source.file] }
      : { stdin: { contents: source.text, resolveDir: source.folder } }),
    ...{ platform: 'browser', conditions: ['workerd', 'worker', 'browser'], external: ['cloudflare:*', ...leaves] },
    ...(strips !== undefined && { alias: Object.fromEntries(STRIPPED.map((name) => [name, strips])) }),
  })
}

async function bundle(options: BuildOptions): Promise<Bundle> {
  const all = { ...options, bundle: true, format: 'esm', target: 'esnext', write: false, logLevel: 'silent' }
  try {
    const { outputFiles } = await build(all)
    return { text: outputFiles.map(({ text }) => text).join('') }
  } catch (error) {
    const { errors } = error as { readonly errors?: readonly Message[] }
    if (errors === undefined) throw error
    return { errors: errors.map(({ text }) => text) }
  }
}

/** The text of a bundle; throws its errors. */
export function textOf(bundle: Bundle): string {
  if ('text' in bundle) return bundle.text
  throw new Error(bundle.errors.join('\n'))
}

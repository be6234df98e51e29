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

// tsup brings it.
const { build }: { build: Build } = createRequire(createRequire(import.meta.url).resolve('tsup/package.json'))(
  'esbuild',
)

/** A whole program in one text, or the reasons for which there is none. */
export type Bundle = { readonly text: string } | { readonly errors: readonly string[] }

/** For what has a `node_modules` beside it: Node, Bun, Deno. Only what is our own is put together. */
export function bundleOwn(file: string): Promise<Bundle> {
  return bundle({ entryPoints: [file], packages: 'external', platform: 'node' })
}

/** A file, or a text that stands in a folder. */
export type Source = { readonly file: string } | { readonly text: string; readonly folder: string }

/** What becomes of the modules of Node's, which a bundler for workerd has not: by default it fails. */
export interface NodeModules {
  /** Looked for when it runs. */
  readonly leaves?: readonly string[]
  /** Replaced by this empty file, as some bundlers do. */
  readonly strips?: string
}

const STRIPPED = ['node:crypto', 'node:dns/promises', 'node:http', 'node:https']

/** As wrangler bundles for workerd, with all packages in it. */
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

/** The text of one that must be there. */
export function textOf(bundle: Bundle): string {
  if ('text' in bundle) return bundle.text
  throw new Error(bundle.errors.join('\n'))
}

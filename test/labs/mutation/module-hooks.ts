import { readFileSync } from 'node:fs'
import { createRequire, registerHooks, stripTypeScriptTypes } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Functions of Node 22, which Stryker needs. The types of this project are those of Node 20. */
declare module 'node:module' {
  type Next<Result> = (name: string, context: HookContext) => Result
  interface HookContext {
    readonly parentURL?: string
  }
  interface Resolved {
    readonly url: string
    readonly shortCircuit?: boolean
  }
  interface Loaded {
    readonly format: string
    readonly source: string
    readonly shortCircuit?: boolean
  }
  export function registerHooks(hooks: {
    resolve(specifier: string, context: HookContext, next: Next<Resolved>): Resolved
    load(url: string, context: HookContext, next: Next<Loaded>): Loaded
  }): void
  export function stripTypeScriptTypes(source: string): string
}

/** Lets Node import test files: maps the package's entries to their source, and `vitest` to `collected-tests.ts`. */
export function registerTestModules(): void {
  const urls = new Map<string, string>()
  const { compilerOptions } = JSON.parse(readFileSync('tsconfig.json', 'utf8'))
  for (const [name, [file]] of Object.entries<[string]>(compilerOptions.paths)) urls.set(name, urlOf(file))
  urls.set('vitest', urlOf('test/labs/mutation/collected-tests.ts'))

  registerHooks({
    resolve(specifier, context, next) {
      const url = urls.get(specifier)
      return url === undefined || url === context.parentURL ? next(specifier, context) : { url, shortCircuit: true }
    },
    load(url, context, next) {
      if (!url.endsWith('.ts')) return next(url, context)
      return { format: 'module', source: withoutTypes(readFileSync(new URL(url), 'utf8')), shortCircuit: true }
    },
  })
}

function urlOf(file: string): string {
  return pathToFileURL(resolve(file)).href
}

/** Node 22 does not have `using`. */
const USING = /^\s*(?:await )?using \w+ = /m

/** Removes types. Node's own function refuses `for (const of of …)`, so TypeScript is the fallback. */
function withoutTypes(source: string): string {
  if (USING.test(source)) return transpiled(source)
  try {
    return stripTypeScriptTypes(source)
  } catch {
    return transpiled(source)
  }
}

function transpiled(source: string): string {
  const ts: typeof import('typescript') = createRequire(import.meta.url)('typescript')
  const { ES2023: target } = ts.ScriptTarget
  return ts.transpileModule(source, { compilerOptions: { target, module: ts.ModuleKind.ESNext } }).outputText
}

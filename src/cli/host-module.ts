import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { RunsOnlySallyport, Sallyport } from '../compose/create-sallyport.ts'
import { type Terminal, UsageError } from './terminal.ts'

/** A Sallyport of any kind: one that only records runs has no `dispatches`. */
export type HostSallyport = RunsOnlySallyport & Partial<Pick<Sallyport, 'dispatches'>>

const NAMES = ['sallyport.js', 'sallyport.mjs', 'sallyport.ts', 'sallyport.mts'] as const

/**
 * Imports the host's module. It exports a Sallyport as `default` or `sallyport`, or a function that returns one.
 *
 * @param given Path of the module. Default: `SALLYPORT_MODULE`, or the first `sallyport.{js,mjs,ts,mts}` of the folder.
 * @throws {UsageError} There is no module, or it exports no Sallyport.
 * @throws {Error} The module itself fails.
 */
export async function loadHost(given: string | undefined, { env, cwd }: Terminal): Promise<HostSallyport> {
  const named = given ?? env.SALLYPORT_MODULE
  const name = named ?? NAMES.find((each) => existsSync(resolve(cwd, each)))
  if (name === undefined)
    throw new UsageError(`give --module, a file that exports a Sallyport; there is no ${NAMES.join(', ')} here`)
  const file = resolve(cwd, name)
  if (!existsSync(file)) throw new UsageError(`--module: there is no file ${name}`)
  const found = await sallyportOf(file).catch((cause: unknown) => {
    const detail = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`${name} cannot be loaded: ${detail}${isUnreadTypeScript(cause) ? TYPESCRIPT : ''}`, { cause })
  })
  if (found) return found
  throw new UsageError(`--module: ${name} exports no Sallyport as "sallyport" or default`)
}

const TYPESCRIPT = `. This Node imports no TypeScript: npm install tsx and set NODE_OPTIONS='--import tsx', or use Node 22.18, 23.6 or newer`

/** True if Node does not know the extension of the module, or of a module that it imports. */
function isUnreadTypeScript(cause: unknown): boolean {
  const { code, message } = Object(cause)
  return code === 'ERR_UNKNOWN_FILE_EXTENSION' && /"\.[cm]?ts"/.test(message)
}

/** The default export is not called if `sallyport` is one: it may be the host's app. */
async function sallyportOf(file: string): Promise<HostSallyport | undefined> {
  const { sallyport, default: main }: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href)
  for (const value of [sallyport, main]) {
    const found: unknown = await (typeof value === 'function' ? value() : value)
    if (isSallyport(found)) return found
  }
  return undefined
}

function isSallyport(value: unknown): value is HostSallyport {
  const { endpoints, runs, ready } = Object(value)
  return typeof endpoints === 'object' && typeof runs === 'object' && typeof ready === 'function'
}

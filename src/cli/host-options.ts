import type { Given } from './arguments.ts'

/** Options of commands that load the host's module. */
export const HOST = { module: 'text', tenant: 'text', json: 'flag' } as const

export const HELP = {
  module: '--module FILE   file that exports a Sallyport (default: SALLYPORT_MODULE, or ./sallyport.{js,mjs,ts,mts})',
  tenant: '--tenant ID     (default: default)',
  json: '--json          print JSON',
} as const

export const HOST_HELP: readonly string[] = [HELP.module, HELP.tenant, HELP.json]

export function scopeOf(given: Given): { readonly tenant?: string } {
  const tenant = given.text('tenant')
  return tenant === undefined ? {} : { tenant }
}

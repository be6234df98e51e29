import { SallyportError } from '../errors.ts'

/**
 * Stops start-up where `node:http` does not honour a `lookup` hook, or is not known to: Bun, Deno and workerd. The guard
 * against private addresses would be there and do nothing.
 */
export function refuseUnguardedRuntime(allowPrivateNetworks: boolean): void {
  const runtime = unguardedRuntime()
  if (runtime === undefined || allowPrivateNetworks) return
  throw new SallyportError(
    'config_invalid',
    `webhook() cannot keep requests off private networks on ${runtime}: its node:http does not promise to connect to the ` +
      'address that was vetted. Send webhooks from Node, or from behind an egress proxy with allowPrivateNetworks: true.',
  )
}

function unguardedRuntime(): string | undefined {
  if (typeof process !== 'undefined' && process.versions?.bun !== undefined) return 'Bun'
  if (Reflect.has(globalThis, 'Deno')) return 'Deno'
  const { navigator } = globalThis as { readonly navigator?: { readonly userAgent?: string } }
  return navigator?.userAgent === 'Cloudflare-Workers' ? 'workerd' : undefined
}

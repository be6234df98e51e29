import { SallyportError } from '../errors.ts'

/**
 * Stops start-up wherever `node:http` is not known to connect to the address that its `lookup` hook gave: on every runtime but
 * Node. The guard against private addresses would be there and do nothing. Without the guard, only those pass that can post.
 */
export function refuseUnguardedRuntime(allowPrivateNetworks: boolean): void {
  const runtime = runtimeOtherThanNode()
  if (runtime === undefined || (allowPrivateNetworks && runtime.posts)) return
  throw new SallyportError(
    'config_invalid',
    `webhook() cannot keep requests off private networks on ${runtime.name}: its node:http does not promise to connect to ` +
      `the address that was vetted${runtime.posts ? '' : ', and has not all that posting needs'}. Send webhooks from Node` +
      `${runtime.posts ? ', or from behind an egress proxy with allowPrivateNetworks: true' : ''}.`,
  )
}

interface UnguardedRuntime {
  readonly name: string
  /** Its `node:http` can do all but be guarded. */
  readonly posts: boolean
}

interface Globals {
  readonly process?: { readonly versions?: Readonly<Record<string, string | undefined>> }
  readonly navigator?: { readonly userAgent?: string }
}

function runtimeOtherThanNode(): UnguardedRuntime | undefined {
  const { process, navigator }: Globals = globalThis
  if (process?.versions?.bun !== undefined) return { name: 'Bun', posts: true }
  if (Reflect.has(globalThis, 'Deno')) return { name: 'Deno', posts: true }
  if (navigator?.userAgent === 'Cloudflare-Workers') return { name: 'workerd', posts: false }
  return process?.versions?.node === undefined ? { name: 'this runtime, which is not Node', posts: false } : undefined
}

import type { LookupAddress } from 'node:dns'
import type { LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import { SallyportError } from '../errors.ts'
import { parseUrl } from '../model/parse-url.ts'

export interface WebhookReach {
  readonly allowHttp: boolean
  readonly allowPrivateNetworks: boolean
  /** Besides 443, and besides 80 with `allowHttp`. */
  readonly ports: readonly number[]
}

export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

export class AddressForbidden extends Error {
  override readonly name = 'AddressForbidden'
}

// The only global unicast block that IANA has assigned; ipaddr.js calls the unassigned blocks "unicast" too.
const GLOBAL_UNICAST = ipaddr.parseCIDR('2000::/3')

// Azure serves the configuration of virtual machines there, in any network.
const AZURE_WIRE_SERVER = '168.63.129.16'

/**
 * Whether an IP address is public: not private, loopback, link-local, metadata, multicast or reserved. An IPv4-mapped IPv6 address counts
 * as its IPv4 address; other embeddings of IPv4 are refused.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed instanceof ipaddr.IPv4) return parsed.toString() !== AZURE_WIRE_SERVER
  return parsed.match(GLOBAL_UNICAST) && !isIsatap(parsed)
}

/** An ISATAP address embeds an IPv4 address at its end, in any network (RFC 5214). */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return (parts[4] === 0 || parts[4] === 0x200) && parts[5] === 0x5efe
}

/** Parses a URL with an allowed scheme and port and without credentials. Its host is checked on connecting. */
export function parseWebhookUrl(text: string, reach: WebhookReach): URL | undefined {
  const url = parseUrl(text)
  if (!url) return undefined
  const { protocol, username, password, port } = url
  if (protocol !== 'https:' && !(protocol === 'http:' && reach.allowHttp)) return undefined
  if (username !== '' || password !== '') return undefined
  const number = Number(port || (protocol === 'https:' ? 443 : 80))
  const open =
    reach.allowPrivateNetworks || number === 443 || (number === 80 && reach.allowHttp) || reach.ports.includes(number)
  return open ? url : undefined
}

/** Whether the host is a forbidden IP literal. Node calls no `lookup` for literals; the URL parser normalises all spellings. */
export function isForbiddenLiteral(url: URL, reach: WebhookReach): boolean {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return !reach.allowPrivateNetworks && ipaddr.isValid(host) && !isPublicAddress(host)
}

/** Returns the addresses it has checked, so that no second resolution can differ (DNS rebinding). One forbidden address refuses all. */
export function guardedLookup(resolve: Resolve, reach: WebhookReach): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then(
      (answers) => {
        const [first] = answers
        if (first === undefined) return callback(notFound(hostname), '')
        if (!reach.allowPrivateNetworks && !answers.every(({ address }) => isPublicAddress(address))) {
          return callback(new AddressForbidden(), '')
        }
        return options.all ? callback(null, [...answers]) : callback(null, first.address, first.family)
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

function notFound(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`no address for ${hostname}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
}

/**
 * Stops start-up on every runtime except Node: only Node's `node:http` is known to connect to the address that `lookup` returned. With
 * `allowPrivateNetworks`, it allows runtimes whose `node:http` can post.
 */
export function refuseUnguardedRuntime(allowPrivateNetworks: boolean): void {
  const runtime = runtimeOtherThanNode()
  if (runtime === undefined || (allowPrivateNetworks && runtime.posts)) return
  throw new SallyportError(
    'config_invalid',
    `webhook() cannot keep requests off private networks on ${runtime.name}: its node:http does not promise to connect to ` +
      `the address that was vetted${runtime.posts ? '' : ', and it lacks parts that requests need'}. Send webhooks from Node` +
      `${runtime.posts ? ', or from behind an egress proxy with allowPrivateNetworks: true' : ''}.`,
  )
}

interface UnguardedRuntime {
  readonly name: string
  /** Its `node:http` can post, but cannot be guarded. */
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

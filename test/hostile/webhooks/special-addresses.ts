import { BlockList, isIPv4 } from 'node:net'
import { fc } from '../../support/properties.ts'

/**
 * IANA's registries of special addresses and other non-public ranges, written independently of the tested classifier.
 */
const SPECIAL_IPV4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24', '192.168.0.0/16'],
  ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  ...['255.255.255.255/32', '168.63.129.16/32'],
]

const SPECIAL_IPV6 = [
  ...['::/128', '::1/128', '::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48', '100::/64', '100:0:0:1::/64'],
  ...['2001::/32', '2001:2::/48', '2001:10::/28', '2001:20::/28', '2001:30::/28', '2001::/23', '2001:db8::/32'],
  ...['2002::/16', '2620:4f:8000::/48', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
  // All outside 2000::/3, the only allocated range; mapped addresses have a case of their own below.
  ...['::/3', '4000::/2', '8000::/1'],
]

// Two lists: a single one treats an IPv4 address as its mapped form and finds it in an IPv6 network.
const [ipv4, ipv6] = [new BlockList(), new BlockList()]
for (const subnet of SPECIAL_IPV4) ipv4.addSubnet(...partsOf(subnet), 'ipv4')
for (const subnet of SPECIAL_IPV6) ipv6.addSubnet(...partsOf(subnet), 'ipv6')

/** Whether an address, in URL form, is not on the public internet. */
export function isSpecial(address: string): boolean {
  const [, ...groups] = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(address) ?? []
  if (groups.length > 0) return ipv4.check(groups.flatMap(bytesOfGroup).join('.'), 'ipv4')
  return isIPv4(address) ? ipv4.check(address, 'ipv4') : ipv6.check(address, 'ipv6')
}

/** The bytes of an address: 4 or 16. */
export type Bytes = readonly number[]

const bytes = (length: number) => fc.array(fc.integer({ min: 0, max: 255 }), { minLength: length, maxLength: length })
const mapped = (ip: Bytes): Bytes => [...Array<number>(10).fill(0), 255, 255, ...ip]

export const specialIpv4: fc.Arbitrary<Bytes> = within(SPECIAL_IPV4, 4)

export const publicIpv4: fc.Arbitrary<Bytes> = bytes(4).filter((ip) => !ipv4.check(ip.join('.'), 'ipv4'))

export const specialIpv6: fc.Arbitrary<Bytes> = fc.oneof(
  within(SPECIAL_IPV6, 16).filter((ip) => !isMapped(ip)),
  specialIpv4.map(mapped),
  // ISATAP, in any network.
  fc.tuple(bytes(8), fc.constantFrom(0, 2), bytes(4)).map(([network, u, ip]) => [...network, u, 0, 0x5e, 0xfe, ...ip]),
)

export const publicIpv6: fc.Arbitrary<Bytes> = fc.oneof(
  bytes(16)
    .map(([first = 0, ...rest]) => [0x20 | (first & 0x1f), ...rest])
    .filter((ip) => !ipv6.check(groupsOf(ip).map(hex).join(':'), 'ipv6')),
  publicIpv4.map(mapped),
)

const hex = (group: number): string => group.toString(16)

/** Gives groups of two bytes. */
export function groupsOf(ip: Bytes): number[] {
  return Array.from({ length: ip.length / 2 }, (_, at) => (ip[2 * at] ?? 0) * 256 + (ip[2 * at + 1] ?? 0))
}

function isMapped(ip: Bytes): boolean {
  return ip.slice(0, 10).every((byte) => byte === 0) && ip[10] === 255 && ip[11] === 255
}

function partsOf(subnet: string): [network: string, prefix: number] {
  const [network = '', prefix] = subnet.split('/')
  return [network, Number(prefix)]
}

/** Any address of these subnets. */
function within(subnets: readonly string[], length: 4 | 16): fc.Arbitrary<Bytes> {
  return fc.tuple(fc.constantFrom(...subnets), bytes(length)).map(([subnet, random]) => {
    const [network, prefix] = partsOf(subnet)
    const base = length === 4 ? network.split('.').map(Number) : bytesOfIpv6(network)
    return random.map((byte, at) => {
      const free = 0xff >> Math.min(8, Math.max(0, prefix - 8 * at))
      return ((base[at] ?? 0) & ~free) | (byte & free)
    })
  })
}

function bytesOfIpv6(network: string): number[] {
  const [before = [], after = []] = network.split('::').map((part) => part.split(':').filter(Boolean))
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after]
  return groups.flatMap(bytesOfGroup)
}

function bytesOfGroup(group: string): [number, number] {
  const number = Number.parseInt(group, 16)
  return [number >> 8, number & 0xff]
}

import { fc } from '../../support/properties.ts'
import { type Bytes, groupsOf } from './special-addresses.ts'

/** Characters that a URL's host normalises to a plain one. */
const DISGUISES: Readonly<Record<string, readonly string[]>> = {
  '.': ['。', '．', '｡', '%2e', '%E3%80%82'],
  ...Object.fromEntries(
    [...'0123456789'].map((digit) => [
      digit,
      [0xff10, 0x1d7ce, 0x1d7d8, 0x1d7f6]
        .map((zero) => String.fromCodePoint(zero + Number(digit)))
        .concat(`%3${digit}`),
    ]),
  ),
  x: ['X', 'ｘ', 'ⓧ', '%78'],
  f: ['F', 'ｆ', 'ⓕ', '%66'],
}

const INVISIBLE = ['', '', '', '\u00ad', '\u200b', '\u2060']

/** An IPv4 address as a host: one to four parts, each decimal, octal or hexadecimal, zero-padded and disguised. */
export function spelledIpv4(ip: Bytes): fc.Arbitrary<string> {
  const whole = ip.reduce((number, byte) => number * 256 + byte, 0)
  return fc
    .tuple(fc.integer({ min: 1, max: 4 }), fc.boolean())
    .chain(([count, dotted]) => {
      const last = whole % 256 ** (5 - count)
      const parts = [...ip.slice(0, count - 1), last].map(spelledNumber)
      return fc.tuple(...parts).map((spelled) => spelled.join('.') + (dotted ? '.' : ''))
    })
    .chain((plain) => fc.tuple(...[...plain].map(disguised)))
    .map((characters) => characters.join(''))
}

function spelledNumber(number: number): fc.Arbitrary<string> {
  const zeros = fc.nat(5).map((count) => '0'.repeat(count))
  return fc.oneof(
    fc.constant(String(number)),
    zeros.map((padding) => `0x${padding}${number.toString(16)}`),
    zeros.map((padding) => `0${padding}${number.toString(8)}`),
  )
}

function disguised(character: string): fc.Arbitrary<string> {
  const looks = fc.oneof(
    { weight: 3, arbitrary: fc.constant(character) },
    fc.constantFrom(...(DISGUISES[character] ?? [character])),
  )
  return fc.tuple(looks, fc.constantFrom(...INVISIBLE)).map(([look, unseen]) => look + unseen)
}

/** An IPv6 address as a host: zero-padded, in mixed case, with a compressed run of zeros or an IPv4 end. */
export function spelledIpv6(ip: Bytes): fc.Arbitrary<string> {
  const groups = groupsOf(ip)
  const runs = zeroRuns(groups)
  return fc
    .record({
      run: fc.constantFrom(undefined, ...runs),
      padded: fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }),
      upper: fc.boolean(),
      endsAsIpv4: fc.boolean(),
    })
    .map(({ run, padded, upper, endsAsIpv4 }) => {
      const words = groups.map((group, at) => group.toString(16).padStart(padded[at] ? 4 : 1, '0'))
      const leavesEnd = run !== undefined && run.end > 6
      if (endsAsIpv4 && !leavesEnd) words.splice(6, 2, ip.slice(12).join('.'))
      const text = run ? `${words.slice(0, run.start).join(':')}::${words.slice(run.end).join(':')}` : words.join(':')
      return `[${upper ? text.toUpperCase() : text}]`
    })
}

/** Every run of zeros, and every part of one, that `::` may replace. */
function zeroRuns(groups: readonly number[]): { readonly start: number; readonly end: number }[] {
  const starts = groups.map((_, start) => start)
  return starts.flatMap((start) =>
    starts
      .filter((at) => at >= start)
      .flatMap((at) => (groups.slice(start, at + 1).every((g) => g === 0) ? [{ start, end: at + 1 }] : [])),
  )
}

import type { LockedPackage } from './lock-file.ts'

/** Licences allowed for installed packages: any use, with the notice kept. */
export const PERMISSIVE: readonly string[] = [
  'MIT',
  'MIT-0',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
]

/** Additional licences allowed for development dependencies, which are not distributed. */
export const DEVELOPMENT: readonly string[] = [
  ...PERMISSIVE,
  'BlueOak-1.0.0',
  'CC-BY-4.0',
  'CC0-1.0',
  'LGPL-3.0-or-later',
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]

/** Licences from the files of packages whose manifest names none, or not by its SPDX name. */
export const READ_BY_HAND: Readonly<Record<string, string>> = {
  'only@0.0.2': 'MIT', // the end of its Readme.md
  'slick@1.12.2': 'MIT', // its package.json, with an address
  'spawndamnit@3.0.1': 'MIT', // its LICENSE
  'starkbank-ecdsa@1.2.0': 'MIT', // its LICENSE; the manifest says "MIT License"
}

/** The SPDX expression of a package's licence, or `NONE`. */
export function licenceOf({ name, version, license }: LockedPackage): string {
  return READ_BY_HAND[`${name}@${version}`] ?? license ?? 'NONE'
}

/** Whether these licences satisfy an SPDX expression: one side of an `OR`, both sides of an `AND`. */
export function isAllowed(expression: string, licences: readonly string[]): boolean {
  const tokens = expression.match(/[()]|[^\s()]+/g) ?? []
  let isWhole = true
  const take = (token: string): boolean => tokens[0] === token && tokens.shift() !== undefined
  const name = (): string => {
    const found = tokens.shift() ?? ')'
    if (/^(?:[()]|OR|AND|WITH)$/.test(found)) isWhole = false
    return found
  }
  const either = (): boolean => {
    let met = both()
    while (take('OR')) met = both() || met
    return met
  }
  const both = (): boolean => {
    let met = one()
    while (take('AND')) met = one() && met
    return met
  }
  const one = (): boolean => {
    if (take('(')) {
      const met = either()
      isWhole &&= take(')')
      return met
    }
    const licence = name()
    return licences.includes(take('WITH') ? `${licence} WITH ${name()}` : licence)
  }
  return either() && isWhole && tokens.length === 0
}

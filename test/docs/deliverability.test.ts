import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseMailbox } from '../../src/model/recipient.ts'
import { ROOT } from '../support/entries.ts'

const page = readFileSync(new URL('docs/deliverability.md', ROOT), 'utf8')
const [, section = ''] = page.split('## Addresses that cannot be reached\n')
const rows = section.split('\n## ')[0]?.match(/^\| `.*$/gm) ?? []
const addresses = rows.flatMap((row) => row.split(' | ')[0]?.match(/(?<=`)[^`]*@[^`]*(?=`)/g) ?? [])

describe('the documented addresses that cannot be reached', () => {
  it('The page lists every kind', () => expect(addresses.length).toBeGreaterThanOrEqual(12))

  it.each(addresses)('%s is refused', (address) => expect(parseMailbox(address)).toBeUndefined())
})

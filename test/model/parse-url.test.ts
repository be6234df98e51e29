import { expect, it } from 'vitest'
import { parseUrl } from '../../src/model/parse-url.ts'
import { parseDomain } from '../../src/model/recipient.ts'

it('parseUrl accepts a URL with a Latin-1 letter in every one of 30,000 calls', () => {
  for (let times = 0; times < 30_000; times++) {
    if (parseUrl('https://bücher.example/ü')?.host !== 'xn--bcher-kva.example') expect.fail(`not after ${times} times`)
    if (parseDomain('bücher.example') !== 'xn--bcher-kva.example') expect.fail(`no domain after ${times} times`)
  }
})

it('parseUrl gives undefined for any other text', () => {
  expect(['', 'no url', 'https://', 'https://a b/'].map(parseUrl)).toEqual([undefined, undefined, undefined, undefined])
})

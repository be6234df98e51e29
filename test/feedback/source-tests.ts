import { describe, expect, it } from 'vitest'
import {
  type FeedbackSourceCapabilities,
  type FeedbackTrial,
  feedbackSourceContract,
} from '../../src/contract-tests/index.ts'
import type { FeedbackRequest } from '../../src/ports/feedback-source.ts'
import { textOf } from '../hostile/leaks/collecting.ts'
import { HOLE, ID, type OptionRow, outside, WORD } from '../options/option-rows.ts'
import { NOW_SECONDS, REFUSED, requestOf } from './requests.ts'

/** What the tests of every source need to know of one. */
export interface SourceFacts {
  create(): FeedbackTrial | Promise<FeedbackTrial>
  readonly capabilities?: FeedbackSourceCapabilities
  /** Size of the greatest body that it accepts. */
  readonly maxBytes: number
  /** For a source that checks the head of a request: its headers, each with values that no proof can have. */
  readonly head?: Readonly<Record<string, readonly (string | undefined)[]>>
}

/** A request without a proof. */
export const NO_PROOF: FeedbackRequest = requestOf({ body: '{}' })

/** Values that are no time of a proof. */
export const NO_TIME: readonly (string | undefined)[] = [
  ...[undefined, '', 'now', `${NOW_SECONDS - 604_801}`, `${NOW_SECONDS + 301}`, `${NOW_SECONDS}.0`],
]
/** Values that are no signature in base64. */
export const NO_BASE64: readonly (string | undefined)[] = [
  ...[undefined, '', 'AAAA', '!'.repeat(92), `${'A'.repeat(4_096)}=`],
]

/** Invalid values for the options of every source. */
export const SOURCE_OPTIONS: OptionRow['bad'] = { channel: [...WORD, 'a b', 'x'.repeat(65)], tenant: ID }
export const AGE: OptionRow['bad'] = { toleranceSeconds: outside(1, 604_800) }
export const SECRETS: readonly unknown[] = [7, '', {}, [], [''], [7], HOLE]

/**
 * Tests what every feedback source must do: the contract, the size of its bodies, the head of a request, and that no printed form of it
 * shows a secret.
 *
 * @param name The end of its entry, as a plain text: a test of the entries looks for it in all tests.
 */
export function testSource(name: string, facts: SourceFacts): void {
  const { create, capabilities = {} } = facts
  describe(`${name} keeps the contract of feedback sources`, () => {
    feedbackSourceContract({ test: it, skip: it.skip, create, capabilities })

    it('No printed form of the source shows a secret', async () => {
      const { source, secrets = [] } = await create()
      const printed = textOf(source)
      expect(secrets.filter((secret) => printed.includes(secret))).toEqual([])
    })
  })
  describe(`a body of ${name}`, () => testBodies(facts))
  describe(`the head of a request of ${name}`, () => testHead(facts))
}

function testBodies({ create, maxBytes }: SourceFacts): void {
  const padded = (bytes: number): string => `{"padding":"${'x'.repeat(bytes)}"}`

  it('is read at its limit', async () => {
    const { source, prove } = await create()
    expect(source.maxBytes ?? 1_048_576).toBe(maxBytes)
    const { body } = await prove(padded(0))
    const request = await prove(padded(maxBytes - body.byteLength))
    expect(request.body.byteLength).toBe(maxBytes)
    expect((await source.receive(request)).outcome).toBe('events')
  })

  it.each(['[[[[', '{"a":{"a":', '{"a":1,"a":2}', 'null', '"text"', '7', '\u0000', '{"__proto__":{}}'])(
    'is refused without a right proof: %s',
    async (body) => expect(await (await create()).source.receive(requestOf({ body }))).toEqual(REFUSED),
  )
}

function testHead({ create, head }: SourceFacts): void {
  if (head === undefined) {
    it('is not checked', async () => expect((await create()).source.head).toBeUndefined())
    return
  }

  it('is let through with a right proof', async () => {
    const { source, request } = await create()
    expect(source.head?.(await request())).toBe(true)
    expect(await source.receive(await request())).toMatchObject({ outcome: 'events' })
  })

  it.each(Object.entries(head).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'is refused with %s: %j',
    async (name, value) => {
      const { source, request } = await create()
      const forged = withHeader(await request(), Object.keys(head), name, value)
      expect(source.head?.(forged)).toBe(false)
      expect(await source.receive(forged)).toEqual(REFUSED)
    },
  )
}

/** A request with these headers alone, of which one has another value. */
function withHeader(
  { body, url, header }: FeedbackRequest,
  headers: readonly string[],
  name: string,
  value: string | undefined,
): FeedbackRequest {
  const kept = headers.flatMap((each): [string, string][] => {
    const given = each === name ? value : header(each)
    return given === undefined ? [] : [[each, given]]
  })
  return requestOf({ body, url, headers: Object.fromEntries(kept) })
}

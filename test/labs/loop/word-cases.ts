import { appSecrets, sessionTokens } from '../../../src/auth/index.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { authenticate } from '../../../src/core/authenticate.ts'
import { readIdempotencyKey } from '../../../src/core/dispatch/idempotency.ts'
import { canonicalJson } from '../../../src/core/json/canonical-json.ts'
import { adHocRecipient } from '../../../src/core/message/resolve-recipient.ts'
import { prefersMinimal } from '../../../src/core/runs/handle-session-run.ts'
import { readInstant } from '../../../src/core/runs/merge/instants.ts'
import { parseQuery } from '../../../src/http/answer.ts'
import { checkContent } from '../../../src/http/content-headers.ts'
import { MOUNT_CHECKS, mount } from '../../../src/http/mount.ts'
import { canonicalDecimal } from '../../../src/model/decimal.ts'
import { parseDomain, parseMailbox } from '../../../src/model/recipient.ts'
import { nearNames } from '../../../src/model/suggestions.ts'
import { systemClock } from '../../../src/runtime/system-clock.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import type { LoopCases } from './loop-case.ts'

/** Node's limit of all headers and of the target of a request. */
const HEADERS = 16_000
const RECIPIENT = 2_048

const times = (text: string, length: number): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

const verifier = sessionTokens({ keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }], audience: 'api' })
const mounted = mount('toFetch', createSallyport({ auth: verifier, store: memoryStore() }), {}, MOUNT_CHECKS)
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (header: unknown, claims: unknown): string => `${part(header)}.${part(claims)}.${'A'.repeat(43)}`
const HEADER = { alg: 'HS256', typ: 'sallyport-session+jwt', kid: 'k1' }

const verified = (text: string) => () =>
  authenticate({ authorization: `Bearer ${text}` }, 'dispatch', verifier, systemClock)
const names = (length: number) => Array.from({ length: 1_000 }, (_, index) => times(`event.${index}.name`, length))

export const WORD_CASES: LoopCases = {
  'a mailbox of dots': (share) => () => parseMailbox(`${times('a.', 64 * share)}@${times('a.', 180 * share)}`),
  'a mailbox of hyphens': (share) => () => parseMailbox(`a@${times('a-', 240 * share)}.`),
  'a domain of letters of any script': (share) => () => parseDomain(`${times('ä.', 240 * share)}com`),
  'a recipient like an address': (share) => () => adHocRecipient(`${times('a.', RECIPIENT * share)}@`),
  'a recipient like a number': (share) => () => adHocRecipient(`+${times('1', RECIPIENT * share)}`),
  'a recipient like a URL': (share) => () => adHocRecipient(`https://${times('a.', RECIPIENT * share - 9)} `),
  'a URL of a thousand labels': (share) => () => adHocRecipient(`https://${times('xn--a.', RECIPIENT * share - 9)}`),
  'a URL of dots': (share) => () => adHocRecipient(`https://a/${times('../../hostile/', RECIPIENT * share - 10)}`),
  'a token of dots': (share) => verified(times('a.', 4_096 * share)),
  'a token of equals signs': (share) => verified(`a${times('=', 4_095 * share)}!`),
  'a token with a deep header': (share) => verified(token(times('[', 2_000 * share), {})),
  'a token with large claims': (share) => verified(token(HEADER, { grants: Array(1_200 * share).fill(0) })),
  'an application secret': (share) => () =>
    appSecrets([`sp_test_${'0'.repeat(29)}1sAQ6J`.replace('01s', '001s')]).verify(
      times('sp_', 4_096 * share),
      'dispatch',
    ),
  'an Authorization of spaces': (share) => () =>
    authenticate({ authorization: `Bearer ${times(' ', HEADERS * share)}!` }, 'dispatch', verifier, systemClock),
  'an Idempotency-Key': (share) => () => readIdempotencyKey({ 'idempotency-key': `"${times('k', HEADERS * share)}` }),
  'a Prefer of commas': (share) => () => prefersMinimal({ prefer: times(', ', HEADERS * share) }),
  'a Prefer of spaces': (share) => () => prefersMinimal({ prefer: `;return${times(' ', HEADERS * share)}` }),
  'a Prefer that starts repeatedly': (share) => () =>
    prefersMinimal({ prefer: times(';return=minimal  ', HEADERS * share) }),
  'a Content-Type of parameters': (share) => () =>
    checkContent({ 'content-type': `application/json${times(';a=b', HEADERS * share)}` }),
  'a Content-Type of spaces': (share) => () =>
    checkContent({ 'content-type': `application/json${times(' ', HEADERS * share)};x` }),
  'a query of parameters': (share) => () => parseQuery(times('a=%41&', HEADERS * share)),
  'a path of slashes': (share) => () => mounted.match(times('/', HEADERS * share)),
  'an instant': (share) => () => readInstant(times('2026-', RECIPIENT * share), []),
  'an amount': (share) => () => canonicalDecimal(times('0', 42 * share)),
  'a name far from a thousand others': (share) => () => nearNames(times('event.x', 256 * share), names(256 * share)),
  'the fingerprint of a wide body': (share) => () =>
    canonicalJson(Object.fromEntries(Array.from({ length: 4_990 * share }, (_, index) => [`k${index}`, [index]]))),
}

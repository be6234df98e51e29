import { FEEDBACK_KINDS, type FeedbackKind } from '../model/feedback.ts'
import type { FeedbackEvent, FeedbackRequest, FeedbackSource } from '../ports/feedback-source.ts'
import { equal, ok } from './assertions.ts'
import { type ContractCase, type ContractOptions, type ContractSubject, casesOf, registerCases } from './contract.ts'

/** A feedback source for one case, with requests as its provider sends them. */
export interface FeedbackTrial {
  readonly source: FeedbackSource
  /** A request with a right proof that reports one event or more. Equal each time. */
  request(): FeedbackRequest | Promise<FeedbackRequest>
  /** Requests like `request()` with a wrong proof: of another secret, malformed, or none. */
  forged(): readonly FeedbackRequest[] | Promise<readonly FeedbackRequest[]>
  /** A request with a right proof whose event is this text, which may be no JSON. A text within an envelope goes into it. */
  prove(event: string): FeedbackRequest | Promise<FeedbackRequest>
  /** Texts that no event or error may contain: keys, passwords. */
  readonly secrets?: readonly string[]
  /** Releases the source after the case, also after a failure. */
  close?(): void | Promise<void>
}

/** Capabilities of a source. Cases that need a missing one are skipped. */
export interface FeedbackSourceCapabilities {
  /** The proof covers the events of the body. Default: `true`. */
  readonly coversBody?: boolean
  /** The proof has a time, and old ones are refused. Default: `true`. */
  readonly expires?: boolean
}

/** Options of {@link feedbackSourceContract}. */
export interface FeedbackSourceContractOptions extends ContractOptions {
  /** Returns a source for each case. */
  readonly create: () => FeedbackTrial | Promise<FeedbackTrial>
  readonly capabilities?: FeedbackSourceCapabilities
}

const SOURCE: ContractSubject<FeedbackSourceCapabilities> = {
  name: 'source',
  defaults: { coversBody: true, expires: true },
}

const KINDS: ReadonlySet<FeedbackKind> = new Set(FEEDBACK_KINDS)

const YEAR_MS = 366 * 86_400_000
const MAX_CHANGES = 64

async function eventsOf(t: FeedbackTrial, request: FeedbackRequest): Promise<readonly FeedbackEvent[]> {
  const receipt = await t.source.receive(request)
  ok(receipt.outcome === 'events', 'a right proof is accepted')
  for (const event of receipt.events) expectEvent(event)
  const text = JSON.stringify(receipt)
  for (const secret of t.secrets ?? []) ok(!text.includes(secret), 'a receipt contains no secret')
  return receipt.events
}

function expectEvent(event: FeedbackEvent): void {
  const { kind, eventId, at, deliveryId, providerMessageId, address, isPermanent, code } = event
  ok(KINDS.has(kind), 'the kind of an event is one of the port')
  ok(isText(eventId, 128), 'an event has an id of at most 128 characters')
  ok(at === undefined || (Number.isSafeInteger(at) && at >= 0), 'the time of an event is in whole epoch milliseconds')
  ok(deliveryId === undefined || isText(deliveryId, 255), 'a delivery id has at most 255 characters')
  ok(
    providerMessageId === undefined || isText(providerMessageId, 255),
    'a provider message id has at most 255 characters',
  )
  ok(address === undefined || isText(address, 320), 'an address has at most 320 characters')
  ok(isPermanent === undefined || kind === 'bounced', 'only a bounce is permanent')
  ok(
    code === undefined || /^(?:[a-z][a-z0-9_]{0,63}|[245]\.\d{1,3}\.\d{1,3})$/.test(code),
    'a code is lower_snake with at most 64 characters, or an enhanced status code',
  )
}

function isText(value: unknown, max: number): boolean {
  return typeof value === 'string' && value !== '' && value.length <= max && value.isWellFormed()
}

async function expectRefused(t: FeedbackTrial, request: FeedbackRequest, what: string): Promise<void> {
  equal(await t.source.receive(request), { outcome: 'refused' }, what)
}

/** Other bodies: single bytes changed, cut, and extended. */
function* changesOf(body: Uint8Array): Iterable<Uint8Array> {
  const step = Math.max(1, Math.floor(body.length / MAX_CHANGES))
  for (let at = 0; at < body.length; at += step) {
    const changed = Uint8Array.from(body)
    changed[at] = (changed[at] ?? 0) ^ 1
    yield changed
  }
  for (const end of [0, 1, Math.floor(body.length / 2), body.length - 1]) yield body.slice(0, end)
  yield Uint8Array.from([...body, ...body])
}

function withBody(request: FeedbackRequest, body: Uint8Array): FeedbackRequest {
  return { body, url: request.url, now: request.now, header: (name) => request.header(name) }
}

const UNKNOWN_SHAPES = ['{}', 'null', '7', 'true', '"text"', '{"a":{"b":[]}}', '[[[]]]', 'no JSON', '{"a":', '\u0000']
const DEEP = `${'['.repeat(10_000)}${']'.repeat(10_000)}`

const sourceCases = casesOf<FeedbackTrial, FeedbackSourceCapabilities>

const CASES: readonly ContractCase<FeedbackTrial, FeedbackSourceCapabilities>[] = [
  ...sourceCases([], {
    'a source has a tenant and a channel': async ({ source }) => {
      ok(isText(source.tenant, 200), 'the tenant is a text')
      ok(isText(source.channel, 64), 'the channel is a text')
    },
    'a right proof gives events': async (t) => {
      const request = await t.request()
      const before = Uint8Array.from(request.body)
      const events = await eventsOf(t, request)
      ok(events.length > 0, 'the request reports an event')
      ok(
        events.some(({ kind }) => kind !== 'unknown'),
        'the source knows an event of the request',
      )
      equal([...request.body], [...before], 'the body is not changed')
    },
    'a wrong proof is refused': async (t) => {
      const forged = await t.forged()
      ok(forged.length > 0, 'there is a forged request')
      for (const [index, request] of forged.entries()) {
        await expectRefused(t, request, `the forged request ${index} is refused`)
      }
      const { body, url, now } = await t.request()
      const withoutProof = { body: new Uint8Array(), url, now, header: () => undefined }
      await expectRefused(t, withoutProof, 'a request without a body and headers is refused')
      ok(body.length > 0, 'the request has a body')
    },
    'the head of a genuine request lets it through, and its body is within the limit': async ({ source, request }) => {
      const genuine = await request()
      equal(source.head?.(genuine) ?? true, true, 'head returns true')
      ok(genuine.body.byteLength <= (source.maxBytes ?? 1_048_576), 'the body has at most maxBytes')
    },
    'a repeated request has equal events': async (t) => {
      const first = await eventsOf(t, await t.request())
      const request = await t.request()
      equal(await eventsOf(t, request), first)
      equal(await eventsOf(t, { ...withBody(request, request.body), now: request.now + 1_000 }), first)
    },
    'concurrent requests have equal events': async (t) => {
      const request = await t.request()
      const all = await Promise.all(Array.from({ length: 10 }, () => eventsOf(t, request)))
      for (const events of all) equal(events, all[0])
    },
    'a body of unknown shape has an event of the kind unknown': async (t) => {
      for (const shape of [...UNKNOWN_SHAPES, DEEP]) {
        const request = await t.prove(shape)
        const events = await eventsOf(t, request)
        equal(
          events.map(({ kind }) => kind),
          ['unknown'],
          `the shape ${shape.slice(0, 20)}`,
        )
        equal(await eventsOf(t, request), events)
      }
    },
    'keys of prototypes in JSON are no members': async (t) => {
      const [known] = await eventsOf(t, await t.request())
      for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
        const events = await eventsOf(
          t,
          await t.prove(`{"${key}":{"polluted":true,"kind":"bounced"},"a":{"${key}":7}}`),
        )
        equal(
          events.map(({ kind }) => kind),
          ['unknown'],
        )
      }
      ok(!('polluted' in {}), 'Object.prototype is not changed')
      equal((await eventsOf(t, await t.request()))[0], known)
    },
  }),
  ...sourceCases(['coversBody'], {
    'a changed body is refused, unless its events are the same': async (t) => {
      const request = await t.request()
      const events = await eventsOf(t, request)
      for (const body of changesOf(request.body)) {
        const receipt = await t.source.receive(withBody(request, body))
        if (receipt.outcome === 'events') equal(receipt.events, events, 'a change of the body changes an event')
      }
    },
  }),
  ...sourceCases(['expires'], {
    'an old proof is refused': async (t) => {
      const request = await t.request()
      const later = { ...withBody(request, request.body), now: request.now + YEAR_MS }
      await expectRefused(t, later, 'a request of a year ago is refused')
    },
  }),
]

/** Tests a `FeedbackSource`: registers a case per guarantee of the port with your test runner. */
export function feedbackSourceContract(options: FeedbackSourceContractOptions): void {
  registerCases('feedbackSourceContract', SOURCE, CASES, options)
}

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { type FeedbackTrial, feedbackSourceContract } from '../../src/contract-tests/feedback-source-contract.ts'
import type { FeedbackReceipt, FeedbackRequest, FeedbackSource } from '../../src/ports/feedback-source.ts'

const NOW = 1_800_000_000_000
const MINUTE = 60_000

const hmac = (body: Uint8Array, key: string, at: string): Buffer =>
  createHmac('sha256', key).update(at).update(body).digest()

function requestOf(event: string, key = 'key'): FeedbackRequest {
  const body = new TextEncoder().encode(event)
  const headers = new Map([
    ['x-at', `${NOW}`],
    ['x-proof', hmac(body, key, `${NOW}`).toString('hex')],
  ])
  return { body, url: '/', now: NOW, header: (name) => headers.get(name) }
}

function read(body: Uint8Array): FeedbackReceipt {
  const eventId = createHash('sha256').update(body).digest('hex')
  try {
    const { kind } = JSON.parse(new TextDecoder().decode(body))
    if (kind === 'opened') return { outcome: 'events', events: [{ kind, eventId, at: NOW }] }
  } catch {
    // No JSON.
  }
  return { outcome: 'events', events: [{ kind: 'unknown', eventId }] }
}

/** A host's source, as small as can be. */
const right: FeedbackSource = {
  tenant: 'default',
  channel: 'email',
  async receive(request) {
    const at = request.header('x-at') ?? ''
    const proof = Buffer.from(request.header('x-proof') ?? '', 'hex')
    const expected = hmac(request.body, 'key', at)
    const isRight = proof.length === expected.length && timingSafeEqual(proof, expected)
    return isRight && request.now - Number(at) <= MINUTE ? read(request.body) : { outcome: 'refused' }
  },
}

function trial(change: Partial<FeedbackSource> = {}): FeedbackTrial {
  return {
    source: { ...right, ...change },
    request: () => requestOf('{"kind":"opened"}'),
    forged: () => [requestOf('{"kind":"opened"}', 'other')],
    prove: (event) => requestOf(event),
    secrets: ['a secret of the host'],
  }
}

describe('feedbackSourceContract on a source of a host', () => {
  feedbackSourceContract({ test: it, skip: it.skip, create: () => trial() })
})

/** The names of the cases that a source fails. */
async function failuresOf(change: Partial<FeedbackSource>): Promise<readonly string[]> {
  const cases: (readonly [string, () => Promise<void>])[] = []
  feedbackSourceContract({ test: (name, body) => cases.push([name, body]), create: () => trial(change) })
  const failed: string[] = []
  for (const [name, body] of cases) await body().catch(() => failed.push(name))
  return failed
}

let calls = 0

const BUGS: readonly (readonly [string, Partial<FeedbackSource>, string])[] = [
  ['has no channel', { channel: '' }, 'a source has a tenant and a channel'],
  ['accepts any proof', { receive: async ({ body }) => read(body) }, 'a wrong proof is refused'],
  [
    'ignores the body in its proof',
    { receive: async (request) => (request.header('x-proof') ? read(request.body) : { outcome: 'refused' }) },
    'a changed body is refused, unless its events are the same',
  ],
  [
    'ignores the time of the proof',
    { receive: async (request) => right.receive({ ...withoutTime(request), now: NOW }) },
    'an old proof is refused',
  ],
  [
    'has new ids for repetitions',
    { receive: (request) => changed(request, { eventId: `e${calls++}` }) },
    'a repeated request has equal events',
  ],
  [
    'has events without an id',
    { receive: (request) => changed(request, { eventId: '' }) },
    'a right proof gives events',
  ],
  [
    'has an id that is too long',
    { receive: (request) => changed(request, { eventId: 'x'.repeat(129) }) },
    'a right proof gives events',
  ],
  [
    'has a code of other text',
    { receive: (request) => changed(request, { code: 'a@b c' }) },
    'a right proof gives events',
  ],
  [
    'reports a secret',
    { receive: (request) => changed(request, { address: 'a secret of the host' }) },
    'a right proof gives events',
  ],
  ['has a time in fractions', { receive: (request) => changed(request, { at: 0.5 }) }, 'a right proof gives events'],
  [
    'throws for an unknown shape',
    {
      async receive(request) {
        const receipt = await right.receive(request)
        if (receipt.outcome === 'events') JSON.parse(new TextDecoder().decode(request.body)).kind.trim()
        return receipt
      },
    },
    'a body of unknown shape has an event of the kind unknown',
  ],
  [
    'merges members into an object',
    {
      async receive(request) {
        const receipt = await right.receive(request)
        const given: unknown = receipt.outcome === 'events' ? parsed(request.body) : {}
        const inherited = Object.assign({}, ...Object.entries(Object(given)).map(([, value]) => value))
        return 'polluted' in inherited ? changed(request, { kind: 'bounced' }) : receipt
      },
    },
    'keys of prototypes in JSON are no members',
  ],
]

function withoutTime(request: FeedbackRequest): FeedbackRequest {
  return { body: request.body, url: request.url, now: request.now, header: (name) => request.header(name) }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(body))
  } catch {
    return {}
  }
}

async function changed(request: FeedbackRequest, change: object): Promise<FeedbackReceipt> {
  const receipt = await right.receive(request)
  if (receipt.outcome === 'refused') return receipt
  return { ...receipt, events: receipt.events.map((event) => ({ ...event, ...change })) }
}

describe('feedbackSourceContract finds a source that', () => {
  it.each(BUGS)('%s', async (_, change, guarantee) => {
    expect(await failuresOf(change)).toContain(guarantee)
  })

  it('The right source fails no case', async () => {
    expect(await failuresOf({})).toEqual([])
  })
})

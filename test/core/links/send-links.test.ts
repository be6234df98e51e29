import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchDeps } from '../../../src/core/dispatch/handle-dispatch.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { EventCatalog } from '../../../src/ports/event-catalog.ts'
import type { LinkMakers, LinkTarget } from '../../../src/ports/link-maker.ts'
import { type TestDeps, testDeps } from '../../support/deps.ts'
import { type RecordingChannel, recordingChannel } from '../../support/recording-channel.ts'
import { attempt, delivery } from '../delivery/attempting.ts'
import { accepted, outcomes, post, stored } from '../dispatch/dispatching.ts'

const MARK = 'https://links.sallyport.invalid/unsubscribe'
const LINK = 'https://app.example/api/outbound/unsubscribe/k1.x.y'

const events: EventCatalog = defineEvents(
  {
    news: {
      category: 'newsletter',
      channels: {
        a: {
          html: '<a href="{{ links.unsubscribe }}">off</a>',
          text: ({ links }) => `Off: ${links?.unsubscribe}`,
          headers: ({ links }) => ({ 'X-Off': [links?.unsubscribe ?? ''] }),
        },
      },
    },
    plain: { channels: { a: { text: () => 'Hi' } } },
    code: { critical: true, channels: { a: { text: () => 'Hi' } } },
    'code.linked': { critical: true, channels: { a: { text: '{{ links.unsubscribe }}' } } },
    weekly: { digest: { windowMs: 1_000 }, channels: { a: { text: '{{ events.size }} {{ links.unsubscribe }}' } } },
    optional: { channels: { a: { text: '{% if links.unsubscribe %}off{% else %}none{% endif %}' } } },
  },
  { templates: liquid() },
)

interface Linked {
  readonly deps: TestDeps
  readonly a: RecordingChannel
  readonly asked: LinkTarget[]
}

function linked(rest: Partial<DispatchDeps> = {}, a = recordingChannel()): Linked {
  const asked: LinkTarget[] = []
  const links: LinkMakers = {
    async unsubscribe(of) {
      asked.push(of)
      return LINK
    },
  }
  return { deps: testDeps({ a }, { events, links, ...rest }), a, asked }
}

const bodyOf = (eventType: string) => ({ eventType, recipient: 'jane@example.com', eventData: {} })

describe('the links of a message', () => {
  it('A message is sent with the link of its recipient; stored content and a dry run have the placeholder', async () => {
    const { deps, a, asked } = linked()
    const planned = {
      html: `<a href="${MARK}">off</a>`,
      text: `Off: ${MARK}`,
      headers: { 'X-Off': [MARK] },
    }
    expect(await post(deps, bodyOf('news'), {}, { dryRun: 'true' })).toMatchObject({
      body: { deliveries: [{ content: planned }] },
    })
    await accepted(deps, bodyOf('news'))
    expect(asked).toEqual([])
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toMatchObject([
      {
        content: { html: `<a href="${LINK}">off</a>`, text: `Off: ${LINK}`, headers: { 'X-Off': [LINK] } },
        links: { unsubscribe: LINK },
      },
    ])
    const target = { eventType: 'news', channel: 'a', address: 'jane@example.com', category: 'newsletter' }
    expect(asked).toEqual([{ tenant: 'default', dispatchId: 'dsp_1', ...target }])
    expect((await delivery(deps)).content).toEqual(planned)
    expect(JSON.stringify(await stored(deps))).not.toContain(LINK)
  })

  it('A message without a placeholder is sent with the link besides its content', async () => {
    const { deps, a, asked } = linked()
    await accepted(deps, bodyOf('plain'))
    await attempt(deps)
    expect(a.sent).toMatchObject([{ content: { text: 'Hi' }, links: { unsubscribe: LINK } }])
    expect(asked).toMatchObject([{ category: 'plain' }])
  })

  it('A critical event has no link besides its content, and needs none without a placeholder', async () => {
    const { deps, a, asked } = linked()
    await accepted(deps, bodyOf('code'))
    await attempt(deps)
    expect(asked).toEqual([])
    await accepted(deps, bodyOf('code.linked'))
    await attempt(deps)
    expect(a.sent.map(({ content }) => content)).toEqual([{ text: 'Hi' }, { text: LINK }])
    expect(a.sent.some((message) => 'links' in message)).toBe(false)
    expect(asked).toMatchObject([{ category: 'code.linked' }])
  })

  it('A digest is rendered with the placeholder, and sent with the link', async () => {
    const { deps, a } = linked()
    await accepted(deps, bodyOf('weekly'))
    await accepted(deps, bodyOf('weekly'))
    deps.clock.advance(1_000)
    expect(await attempt(deps)).toBe('released')
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toMatchObject([{ content: { text: `2 ${LINK}` }, links: { unsubscribe: LINK } }])
    expect((await delivery(deps)).content).toEqual({ text: `2 ${MARK}` })
  })

  it('Every attempt has the link', async () => {
    const { deps, a, asked } = linked({}, recordingChannel([{ outcome: 'retry', code: 'busy' }, { outcome: 'sent' }]))
    await accepted(deps, bodyOf('plain'))
    await attempt(deps)
    deps.clock.advance(60_000)
    await attempt(deps)
    expect(a.sent.map(({ links }) => links)).toEqual([{ unsubscribe: LINK }, { unsubscribe: LINK }])
    expect(asked).toHaveLength(2)
  })

  it('An event type that the catalogue no longer has is its own category', async () => {
    const { deps, asked } = linked()
    await accepted(deps, bodyOf('news'))
    await attempt({ ...deps, events: defineEvents({ other: { channels: { a: {} } } }) })
    expect(asked).toMatchObject([{ category: 'news' }])
  })

  it('A link that cannot be made sends nothing, is reported, and is tried again', async () => {
    const { deps, a } = linked()
    await accepted(deps, bodyOf('plain'))
    const errors: unknown[] = []
    const failing: LinkMakers = { unsubscribe: () => Promise.reject(new Error('no key')) }
    const hooks = { onError: (error: unknown) => errors.push(error) }
    expect(await attempt({ ...deps, links: failing, hooks })).toBe('retried')
    expect(a.sent).toEqual([])
    expect(errors).toEqual([new Error('no key')])
  })
})

describe('a link maker that returns no link', () => {
  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a relative link', '/unsubscribe'],
    ['markup', 'https://app.example/"><script>'],
    ['an ampersand', 'https://app.example/?a=1&b=2'],
    ['a line break', 'https://app.example/\r\nBcc: eve@example.com'],
    ['a script', 'javascript:alert(1)'],
    ['2,001 characters', `https://app.example/${'x'.repeat(1_981)}`],
    ['a URL object', new URL('https://app.example')],
  ])('%s is not sent, and the log says what to return', async (_, given) => {
    const { deps, a } = linked()
    await accepted(deps, bodyOf('news'))
    expect(await attempt({ ...deps, links: { unsubscribe: () => given as string } })).toBe('retried')
    expect(a.sent).toEqual([])
    expect(deps.logger.lines.find(({ event }) => event === 'channel.threw')?.fields).toMatchObject({
      cause: expect.stringMatching(/^links\.unsubscribe\(\) returned .*; return an absolute URL/),
    })
  })

  it('Nothing is no link: a message that does not need it is sent without', async () => {
    const { deps, a } = linked()
    await accepted(deps, bodyOf('plain'))
    expect(await attempt({ ...deps, links: { unsubscribe: () => undefined } })).toBe('sent')
    expect(a.sent).toMatchObject([{ links: {} }])
  })

  it('A link of 2,000 characters is sent', async () => {
    const { deps, a } = linked()
    await accepted(deps, bodyOf('plain'))
    const longest = `https://app.example/${'x'.repeat(1_980)}`
    expect(await attempt({ ...deps, links: { unsubscribe: () => longest } })).toBe('sent')
    expect(a.sent[0]?.links).toEqual({ unsubscribe: longest })
  })
})

describe('without links', () => {
  const none = (a: RecordingChannel) => testDeps({ a }, { events })

  it('A message has no links', async () => {
    const a = recordingChannel()
    const deps = none(a)
    await accepted(deps, bodyOf('plain'))
    await attempt(deps)
    expect(a.sent[0]).not.toHaveProperty('links')
  })

  it('A template that reads a link fails its channel as a fault of the host, not as missing data', async () => {
    const deps = none(recordingChannel())
    await accepted(deps, bodyOf('news'))
    expect(await outcomes(deps)).toEqual(['a: failed template_error 0'])
    await accepted(deps, bodyOf('optional'))
    expect((await stored(deps))[0]?.deliveries[0]?.content).toEqual({ text: 'none' })
  })
})

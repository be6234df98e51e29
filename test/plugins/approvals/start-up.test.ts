import { describe, expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { EventDefinition } from '../../../src/core/dispatch/catalog/event-definition.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { SallyportError } from '../../../src/errors.ts'
import { approvals } from '../../../src/plugins/approvals/approvals.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { testAuth } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { ADA } from './approving.ts'

const KEYS = [{ kid: 'k1', key: new Uint8Array(32).fill(7) }]
const LINKED = { email: { text: 'Answer: {{ links.answer }}' } }

/** The problems of a host with this event, which asks. */
function problemsOf(
  event: EventDefinition<never>,
  { asks = 'ask', hasLinks = true, others = {} } = {},
): readonly string[] {
  try {
    createSallyport<unknown>({
      ...{ auth: testAuth, store: memoryStore(), channels: { email: recordingChannel(), sms: recordingChannel() } },
      ...(hasLinks && { links: { baseUrl: 'https://shop.test', keys: KEYS } }),
      events: defineEvents({ ask: event, ...others }, { templates: liquid() }),
      plugins: [approvals({ events: { [asks]: { approvers: () => [ADA] } } })],
    })
    return []
  } catch (error) {
    return (error as SallyportError).problems.map(({ event, channel, field, detail }) =>
      [event, channel, field, detail].filter((part) => part !== undefined).join(' '),
    )
  }
}

const FIELD = "plugins.approvals.events['ask']"
const NO_LINK = `${FIELD} has no template with a link: write one of links.answer, links.accept, links.decline into a text`

describe('the start of a host with approvals', () => {
  it.each<[string, EventDefinition<never>['channels']]>([
    ['a text', { email: { text: 'Please answer' } }],
    ['texts in several languages', { email: { text: 'Please', locales: { de: { text: 'Bitte' } } } }],
    ['several channels', { email: { subject: 'Please' }, sms: { text: '{{ data.approval.message }}' } }],
    ['no template at all', { email: {} }],
  ])('An event of %s without a place for the link is refused', (_, channels) => {
    expect(problemsOf({ critical: true, channels })).toContain(NO_LINK)
  })

  it.each<[string, EventDefinition<never>['channels']]>([
    ['a text with a link', LINKED],
    ['a link in an HTML text', { email: { subject: 'May I?', html: '<a href="{{ links.decline }}">No</a>' } }],
    ['a link in one language', { email: { text: 'Please', locales: { de: { text: '{{ links.answer }}' } } } }],
    ['a link in one branch', { email: { text: '{% if data.late %}{{ links.answer }}{% endif %}' } }],
    ['a function, of which nothing is known', { email: { text: () => 'Please' } }],
  ])('An event of %s is accepted', (_, channels) => {
    expect(problemsOf({ critical: true, channels })).toEqual([])
  })

  it.each<[string, EventDefinition<never>, Parameters<typeof problemsOf>[1], string]>([
    ['that is not critical', { channels: LINKED }, {}, `${FIELD} must be critical: true: quiet hours and preferences`],
    [
      'with a digest',
      { critical: true, digest: { windowMs: 60_000 }, channels: LINKED },
      {},
      `${FIELD} must have no digest`,
    ],
    [
      'that is not in the catalogue',
      { critical: true, channels: LINKED },
      { asks: 'aks' },
      "plugins.approvals.events['aks'] is not among the events; near: ask; define it",
    ],
  ])('An event %s is refused', (_, event, more, problem) => {
    expect(problemsOf(event, more)[0]).toContain(problem)
  })

  it('A host without links is refused, and another event that reads a link of approvals', () => {
    expect(problemsOf({ critical: true, channels: LINKED }, { hasLinks: false }).join('\n')).toMatch(
      /approvers answer by links: give the host the option links: \{ baseUrl, keys \}/,
    )
    const others = { shipped: { channels: { email: { text: '{{ links.accept }}' } } } }
    expect(problemsOf({ critical: true, channels: LINKED }, { others }).join('\n')).toMatch(
      /shipped email plugins\.approvals\.text reads links\.accept: only messages of the events of approvals have one/,
    )
  })
})

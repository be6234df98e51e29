import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { liquid } from '../../../src/engines/liquid.ts'
import type { Recipient } from '../../../src/model/recipient.ts'
import { composed, ends, took } from '../../compose/composed.ts'
import { recordingChannel } from '../../support/recording-channel.ts'

const events = defineEvents(
  {
    hello: {
      channels: {
        mail: {
          subject: 'Hello, {{ recipient.attributes.name }}',
          html: '<p>{{ recipient.attributes.name }}: {{ data.what }}</p>',
          locales: {
            de: { subject: 'Hallo {{ recipient.attributes.name }}' },
            'de-AT': { subject: 'Servus {{ recipient.attributes.name }}' },
            fr: { html: '<p>{{ data.what }} ({{ recipient.locale }})</p>' },
          },
        },
      },
    },
    who: {
      channels: { mail: { text: '{{ recipient.id }} {{ recipient.locale }} {{ recipient.attributes.plan.name }}' } },
    },
    only: {
      channels: {
        mail: {
          when: ({ recipient }) => recipient.locale?.startsWith('de') === true,
          text: '{% if recipient.attributes.vip %}dear {% endif %}{{ recipient.attributes.name | default: "you" }}',
        },
      },
    },
  },
  { templates: liquid() },
)

/** The content sent to a recipient with these facts, or the ends of its deliveries. */
async function sentTo(eventType: 'hello' | 'who' | 'only', known: Omit<Recipient, 'id'>): Promise<unknown> {
  const mail = recordingChannel()
  const recipients = { find: async (id: string) => ({ id, email: 'jane@example.com', ...known }) }
  const { sallyport } = composed(events, { channels: { mail }, recipients })
  const answer = took(await sallyport.dispatch({ eventType, recipient: 'user_42', eventData: { what: '<new>' } }))
  await sallyport.worker.runDue()
  return mail.sent[0] ? { ...mail.sent[0].content } : ends(answer)
}

const attributes = { name: 'Jane & Co', plan: { name: 'pro' } }

describe('templates in several languages', () => {
  it.each<[string | undefined, string, string]>([
    [undefined, 'Hello, Jane & Co', '<p>Jane &amp; Co: &lt;new&gt;</p>'],
    ['en', 'Hello, Jane & Co', '<p>Jane &amp; Co: &lt;new&gt;</p>'],
    ['de', 'Hallo Jane & Co', '<p>Jane &amp; Co: &lt;new&gt;</p>'],
    ['DE-at', 'Servus Jane & Co', '<p>Jane &amp; Co: &lt;new&gt;</p>'],
    ['de-CH-1996', 'Hallo Jane & Co', '<p>Jane &amp; Co: &lt;new&gt;</p>'],
    ['fr-CA', 'Hello, Jane & Co', '<p>&lt;new&gt; (fr-CA)</p>'],
    ['not a tag', 'Hello, Jane & Co', '<p>Jane &amp; Co: &lt;new&gt;</p>'],
  ])('Each field is rendered for the locale %s or its fallback', async (locale, subject, html) => {
    expect(await sentTo('hello', { attributes, ...(locale !== undefined && { locale }) })).toEqual({ subject, html })
  })

  it('A recipient that is an address gets the default templates', async () => {
    const mail = recordingChannel()
    const { sallyport } = composed(
      defineEvents(
        { e: { channels: { mail: { text: 'Hi', locales: { de: { text: 'Hallo' } } } } } },
        { templates: liquid() },
      ),
      { channels: { mail } },
    )
    await sallyport.dispatch({ eventType: 'e', recipient: 'jane@example.com' })
    await sallyport.worker.runDue()
    expect(mail.sent).toMatchObject([{ content: { text: 'Hi' } }])
    expect(mail.sent[0]).not.toHaveProperty('locale')
  })
})

describe('recipient facts in templates', () => {
  it('A template can read the id, the locale and the attributes of a recipient', async () => {
    expect(await sentTo('who', { attributes, locale: 'de-AT' })).toEqual({ text: 'user_42 de-AT pro' })
  })

  it('A template that reads an unknown recipient fact fails its channel', async () => {
    expect(await sentTo('who', { attributes })).toEqual(['mail: failed template_error'])
    expect(await sentTo('who', { locale: 'de' })).toEqual(['mail: failed template_error'])
  })

  it('Conditions and templates can test whether a recipient fact is known', async () => {
    expect(await sentTo('only', { locale: 'de', attributes: { vip: true, name: 'Jane' } })).toEqual({
      text: 'dear Jane',
    })
    expect(await sentTo('only', { locale: 'de-AT' })).toEqual({ text: 'you' })
    expect(await sentTo('only', { locale: 'en' })).toEqual(['mail: skipped condition_false'])
    expect(await sentTo('only', {})).toEqual(['mail: skipped condition_false'])
  })
})

import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { contentSecurityPolicy } from '../../../../src/pages/page-headers.ts'
import { answerPages } from '../../../../src/plugins/approvals/page/answer-page.ts'
import type { AnswerView } from '../../../../src/plugins/approvals/page/answer-view.ts'
import { type ReadAnswer, readAnswerForm } from '../../../../src/plugins/approvals/page/read-answer-form.ts'
import { openBrowser, openPage, scrollsSideways, violationsOf } from '../../../console/browser.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { ACCEPTED, approvalOf, STATES } from './approvals.ts'

const withBrowser = await serviceOrSkip('chromium')

/** What the page does with a sent form: shows it again, or says that it is recorded. */
function answered(form: URLSearchParams, answers: ReadAnswer[]): AnswerView {
  const approval = approvalOf()
  const result = readAnswerForm(form, approval.schema)
  if ('problems' in result) return { show: 'question', approval, user: 'jane', ...result }
  answers.push(result)
  const { answer } = result
  const status = answer === 'accept' ? 'accepted' : 'declined'
  return { show: 'answered', approval: { ...approval, status, answers: [{ ...ACCEPTED, answer }] }, user: 'jane' }
}

withBrowser('the answer page', () => {
  const pages = answerPages({ name: 'Example Shop' })
  const answers: ReadAnswer[] = []
  const posts: string[] = []
  let browser: Browser
  let server: Server
  let url = ''
  beforeAll(async () => {
    browser = await openBrowser()
    const policy = await contentSecurityPolicy(pages.style)
    server = createServer(async (request, response) => {
      const body = await text(request)
      if (request.method === 'POST') posts.push(body)
      const name = decodeURIComponent(request.url?.slice(1) ?? '')
      const view = request.method === 'POST' ? answered(new URLSearchParams(body), answers) : STATES[name]
      const { html } = pages.render(view ?? { show: 'not_found' }, 'en')
      response
        .setHeader('content-type', 'text/html; charset=utf-8')
        .setHeader('content-security-policy', policy)
        .end(html)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await browser.close()
  })
  afterEach(() => {
    answers.length = 0
    posts.length = 0
  })

  /** A page without scripts. */
  async function open(name: string): Promise<Page> {
    const { page } = await openPage(browser, { javaScriptEnabled: false, viewport: { width: 360, height: 800 } })
    await page.goto(url + name)
    return page
  }

  describe.each([
    ['light', 1_280],
    ['dark', 360],
    ['light', 320],
  ] as const)('in the %s scheme at %i px', (colorScheme, width) => {
    it('axe-core finds nothing in any state, no state scrolls sideways, and the policy allows all of it', async () => {
      const { page, complaints } = await openPage(browser, { colorScheme, viewport: { width, height: 800 } })
      for (const name of Object.keys(STATES)) {
        await page.goto(url + encodeURIComponent(name))
        expect([name, await violationsOf(page), await scrollsSideways(page)]).toEqual([name, [], false])
      }
      expect(complaints.filter((text) => !text.includes('favicon'))).toEqual([])
      await page.close()
    })
  })

  it('A person accepts by the keyboard alone, without scripts', async () => {
    const page = await open('question')
    const { keyboard } = page
    const tabTo = async (selector: string): Promise<void> => {
      // A control of a date has several stops.
      for (let stops = 0; stops < 40; stops++) {
        await keyboard.press('Tab')
        if ((await page.locator(`${selector}:focus`).count()) > 0) return
      }
      throw new Error(`no stop at ${selector}`)
    }
    await tabTo('[name="content.amount"]')
    await keyboard.press('ControlOrMeta+A')
    await keyboard.type('12.5')
    await tabTo('[name="content.reason"]')
    await keyboard.type('The parcel was lost')
    await tabTo('[name="content.urgent"]')
    await keyboard.press('ArrowDown')
    await tabTo('[name="content.how"]')
    await keyboard.press('Space')
    await tabTo('[name="comment"]')
    await keyboard.type('Fine\nby me')
    await tabTo('[value="accept"]')
    await keyboard.press('Enter')
    await page.getByText('You accepted. Thank you.').waitFor()
    expect(answers).toEqual([
      {
        answer: 'accept',
        comment: 'Fine\nby me',
        content: {
          ...{ amount: 12.5, reason: 'The parcel was lost', urgent: false, speed: 'fast', how: ['m'] },
          until: '2026-12-01T08:30:00.000Z',
        },
      },
    ])
    await page.close()
  })

  it('Enter in a field sends nothing, and the browser stops an accept of empty required fields', async () => {
    const page = await open('question')
    const accept = page.getByRole('button', { name: 'Accept' })
    await page.getByLabel('reason').fill('lost')
    await accept.press('Enter')
    await page.getByLabel('Yes').check()
    await page.getByLabel('reason').press('Enter')
    await page.getByLabel('Comment').fill('After all')
    await accept.press('Enter')
    await page.getByRole('alert').waitFor()
    expect(posts).toEqual([expect.stringContaining('comment=After+all')])
    await page.close()
  })

  it('Required fields do not stop a decline', async () => {
    const page = await open('question')
    await page.getByLabel('Comment').fill('No')
    await page.getByRole('button', { name: 'Decline' }).press('Enter')
    await page.getByText('You declined. Thank you.').waitFor()
    expect(answers).toEqual([{ answer: 'decline', comment: 'No' }])
    await page.close()
  })

  it('A refused form comes again with all that was typed, and leads to the field', async () => {
    const page = await open('question')
    await page.getByLabel('Amount in euros').fill('7')
    await page.getByLabel('reason').fill('lost')
    await page.getByLabel('details').fill('\n two\nlines ')
    await page.getByLabel('day').fill('2026-12-24')
    await page.getByLabel('until').fill('2026-12-24T18:30')
    await page.getByLabel('Yes').check()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('alert').getByRole('link', { name: 'how' }).click()
    expect(new URL(page.url()).hash).toBe('#content.how')
    const values = ['Amount in euros', 'reason', 'details', 'day', 'until'].map((name) =>
      page.getByLabel(name).inputValue(),
    )
    expect(await Promise.all(values)).toEqual(['7', 'lost', '\n two\nlines ', '2026-12-24', '2026-12-24T18:30'])
    expect(await page.getByLabel('Yes').isChecked()).toBe(true)
    await page.getByLabel('By mail').check()
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByText('You accepted. Thank you.').waitFor()
    expect(answers[0]?.content).toMatchObject({
      details: '\n two\nlines ',
      until: '2026-12-24T18:30:00.000Z',
      how: ['m'],
    })
    await page.close()
  })

  it('After a failure of the store, one button sends the same form', async () => {
    const page = await open(encodeURIComponent('unavailable with a form'))
    await page.getByRole('button', { name: 'Try again' }).press('Enter')
    await page.getByRole('alert').waitFor()
    const sent = new URLSearchParams(posts[0])
    expect([sent.get('answer'), sent.get('comment'), sent.get('content.day')]).toEqual([
      'accept',
      '\r\nOn two\r\nlines',
      '31.12.2026',
    ])
    expect(await page.getByLabel('Comment').inputValue()).toBe('\nOn two\nlines')
    expect(await page.getByLabel('day').inputValue()).toBe('31.12.2026')
    await page.close()
  })
})

import type { Browser, Page } from 'playwright-core'
import * as v from 'valibot'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { whyNotCancel, whyNotRetry } from '../../../../src/console/app/sentences/change.ts'
import { explainDelivery, explainOutcome } from '../../../../src/console/app/sentences/delivery.ts'
import { recordingChannel } from '../../../../src/contract-tests/recording-channel.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../../../src/index.ts'
import type { ConsentApi } from '../../../../src/plugins/index.ts'
import { memoryStore } from '../../../../src/storage/memory/index.ts'
import { openBrowser, openPage, PATIENT, setHidden } from '../../../console/browser.ts'
import { openConsole, type RunningConsole } from '../../../console/console-server.ts'
import { serviceOrSkip } from '../../../queues/services.ts'
import { recordingLogger, testAuth } from '../../../support/deps.ts'
import { everyPlugin } from '../../../support/every-plugin.ts'

const withBrowser = await serviceOrSkip('chromium')

/** Addresses of user ids. */
const ADDRESSES: Readonly<Record<string, string>> = { u7: 'zoe@example.com', u8: 'max@example.com' }

/** A host that has sent one mail of three: one has no number for the SMS, one was refused by the SMS provider. */
async function askedSallyport(): Promise<Sallyport & ConsentApi> {
  const refusing = recordingChannel([{ outcome: 'rejected', code: 'number_unknown' }], {
    address: ({ id }) => (id === 'ada' ? undefined : id),
  })
  const sallyport = createSallyport<Record<string, unknown>>({
    ...{ auth: testAuth, store: memoryStore(), logger: recordingLogger() },
    channels: { email: recordingChannel(undefined, { address: ({ id }) => ADDRESSES[id] ?? id }), sms: refusing },
    events: defineEvents({
      both: { channels: { email: { html: () => 'x' }, sms: { text: () => 'x' } } },
      sms: { channels: { sms: { text: () => 'x' } } },
      mail: { channels: { email: { html: () => 'x' } } },
      shaped: {
        data: v.object({ number: v.string(), total: v.number(), note: v.optional(v.string()) }),
        channels: { email: { html: () => 'x' } },
      },
    }),
    plugins: everyPlugin(),
  }) as Sallyport & ConsentApi
  await sallyport.dispatch({ eventType: 'both', recipient: 'ada' })
  await sallyport.dispatch({ eventType: 'both', recipient: 'joe' })
  await sallyport.worker.runDue()
  return sallyport
}

withBrowser('questions of support staff', () => {
  let browser: Browser
  let sallyport: Sallyport & ConsentApi
  let host: RunningConsole
  let page: Page
  beforeAll(async () => {
    browser = await openBrowser()
    sallyport = await askedSallyport()
    host = await openConsole(sallyport)
  })
  beforeEach(async () => {
    page = (await openPage(browser)).page
  })
  afterEach(() => page.close())
  afterAll(async () => {
    await host.close()
    await browser.close()
  })

  it('From a failed delivery on the overview, its dispatch is found, although another channel has sent it', async () => {
    await page.goto(host.url)
    await page.getByRole('link', { name: 'those that another channel has sent' }).click()
    await page.getByRole('link', { name: /^dsp_/ }).click()
    await page.getByText('One channel failed').waitFor()
  })

  it('A reason on the overview leads to the dispatches with it', async () => {
    await page.goto(host.url)
    await page.getByRole('link', { name: 'provider_rejected' }).click()
    await page.getByRole('heading', { name: 'Dispatches' }).waitFor()
    await page.getByRole('cell', { name: 'joe' }).waitFor()
    expect(await page.getByLabel('Reason').inputValue()).toBe('provider_rejected')
    expect(await page.getByRole('cell', { name: 'ada' }).count()).toBe(0)
  })

  it('Cancel and Retry say in words why they can do nothing', async () => {
    const buttons = (name: string) => page.getByRole('button', { name, exact: true })
    const { items } = await sallyport.dispatches.list({ recipient: 'ada' })
    await page.goto(`${host.url}dispatches/${items[0]?.dispatchId}`)
    await page.getByText('Nothing is still to be sent.').waitFor()
    await page.getByText('No delivery has failed or expired.').waitFor()
    await expect.poll(() => buttons('Cancel').isDisabled(), PATIENT).toBe(true)
    await buttons('Retry').click({ force: true })
    expect(await page.getByRole('button', { name: 'Yes, retry' }).count()).toBe(0)
  })

  it('Nobody is told to retry what the provider refuses', async () => {
    const { items } = await sallyport.dispatches.list({ reason: 'provider_rejected' })
    await page.goto(`${host.url}dispatches/${items[0]?.dispatchId}`)
    const advice = 'A retry sends the same message to the same address: to change them, dispatch the event again.'
    await page.locator('.lead').getByText(advice).waitFor()
    await page.getByRole('button', { name: 'Retry', exact: true }).click()
    await page.getByText('The provider refused it for good. Send the same message').waitFor()
  })

  it('A suppressed delivery to a user id says which suppression it is, since when, and is lifted there', async () => {
    await sallyport.suppressions.add({ channel: 'email', address: 'zoe@example.com', reason: 'complained' })
    await sallyport.dispatch({ eventType: 'mail', recipient: 'u7' })
    const { items } = await sallyport.dispatches.list({ reason: 'suppressed' })
    await page.goto(`${host.url}dispatches/${items[0]?.dispatchId}`)
    await page.getByText('z…@example.com').waitFor()
    const suppression = page.getByRole('listitem').filter({ hasText: 'complained on email since' })
    expect(await suppression.locator('time').count()).toBe(1)
    await suppression.getByRole('link', { name: 'Show it' }).click()
    await page.getByText('Suppressed: complained on email.').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Lift it' }).click()
    await page.getByRole('button', { name: 'Yes, lift it' }).click()
    await page.getByText('Nothing: the suppression was lifted, or has expired.').waitFor()
    expect(await sallyport.suppressions.find({ address: 'zoe@example.com' })).toEqual([])
  })

  it('From a dispatch, the page of its recipient tells what was sent, preferences and suppressions', async () => {
    await sallyport.preferences.set('u8', { categories: { marketing: { email: false } } })
    await sallyport.dispatch({ eventType: 'mail', recipient: 'u8' })
    await sallyport.suppressions.add({ channel: 'email', address: 'max@example.com', reason: 'bounced' })
    await page.goto(`${host.url}dispatches?recipient=u8`)
    await page.getByRole('cell').getByRole('link', { name: 'u8' }).click()
    await page.getByRole('heading', { name: 'Recipient u8' }).waitFor()
    await page.getByText('Dispatches whose recipient is exactly u8.').waitFor()
    await page.getByRole('link', { name: /^dsp_/ }).waitFor()
    await page.getByRole('row', { name: 'category marketing email no' }).waitFor()
    await page.getByRole('heading', { name: 'email: m…@example.com' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'bounced on email since' }).waitFor()
    await page.getByLabel('User id or address').fill('max@example.com')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.getByText('Nothing was dispatched to exactly this recipient.').waitFor()
    await page.getByRole('listitem').filter({ hasText: 'bounced on email since' }).waitFor()
    await sallyport.suppressions.add({ channel: 'email', address: 'max@example.com', reason: 'complained' })
    await page.reload()
    await page.getByRole('button', { name: 'Lift all 2' }).click()
    await page.getByRole('button', { name: 'Yes, lift all 2' }).click()
    await page.getByText('No dispatch to exactly this recipient had an address').waitFor()
    expect(await sallyport.suppressions.find({ address: 'max@example.com' })).toEqual([])
  })

  it('Times have a date, the page names their zone, and filters by time are in that zone', async () => {
    const { page: own } = await openPage(browser, { timezoneId: 'Asia/Tokyo', locale: 'en-GB' })
    await own.goto(`${host.url}dispatches`)
    await own.getByText('Times are in Asia/Tokyo').waitFor()
    const { items } = await sallyport.dispatches.list({ limit: 1 })
    const format = new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'medium',
      timeZone: 'Asia/Tokyo',
    })
    await own
      .getByRole('cell', { name: format.format(new Date(items[0]?.createdAt ?? '')) })
      .first()
      .waitFor()
    await own.getByLabel('Accepted before').fill('2020-01-01T09:00')
    await own.getByText('Nothing matches accepted before 1 Jan 2020, 09:00:00.').waitFor()
    expect(new URL(own.url()).searchParams.get('until')).toBe('2020-01-01T00:00:00.000Z')
    await own.reload()
    expect(await own.getByLabel('Accepted before').inputValue()).toBe('2020-01-01T09:00')
    await own.close()
  })

  it('A search that finds nothing says what it searched, and where the rest may be', async () => {
    await page.goto(`${host.url}dispatches?recipient=zoe%40example.com&status=sent`)
    await page.getByText('Nothing matches the status sent, the recipient exactly zoe@example.com.').waitFor()
    await page.getByText('A dispatch to a user id is not found by the address that it went to').waitFor()
    await page.getByRole('link', { name: 'page of the recipient' }).click()
    await page.getByRole('heading', { name: 'Recipient zoe@example.com' }).waitFor()
  })

  it('Names of events and channels are completed from the catalogue, and a dry run starts with what its schema requires', async () => {
    await page.goto(`${host.url}dispatches`)
    const choices = (label: string) =>
      page.getByLabel(label, { exact: true }).evaluate((field) => {
        const options: { value: string }[] = [...(Reflect.get(field, 'list')?.options ?? [])]
        return options.map(({ value }) => value)
      })
    await expect.poll(() => choices('Event'), PATIENT).toEqual(['both', 'sms', 'mail', 'shaped'])
    expect(await choices('Channel')).toEqual(['email', 'sms'])
    await page.goto(`${host.url}events/shaped`)
    await page.getByLabel('Data of the event').waitFor()
    expect(JSON.parse(await page.getByLabel('Data of the event').inputValue())).toEqual({ number: '', total: 0 })
  })

  it('A dispatch says so if a channel of it was skipped', async () => {
    const { items } = await sallyport.dispatches.list({ recipient: 'ada' })
    await page.goto(`${host.url}dispatches/${items[0]?.dispatchId}`)
    await page.getByText('One channel has sent it, and another was skipped.').waitFor()
  })

  it('A channel that there is not is refused with the names of the others', async () => {
    await page.goto(`${host.url}suppressions`)
    await page.getByLabel('Address').fill('new@example.com')
    await page.getByLabel('Channel', { exact: true }).fill('Email')
    await page.getByRole('button', { name: 'Suppress', exact: true }).click()
    await page.getByRole('button', { name: 'Yes, suppress' }).click()
    await page.getByText('channel: must be one of email, sms.').waitFor()
    expect((await sallyport.suppressions.list()).items).toEqual([])
  })

  it('What was said of one address goes when another is typed', async () => {
    await page.goto(`${host.url}suppressions`)
    await page.getByLabel('Address').fill('old@example.com')
    await page.getByRole('button', { name: 'Suppress', exact: true }).click()
    await page.getByRole('button', { name: 'Yes, suppress' }).click()
    await page.getByText('It was added. Suppressed: manual on email.').waitFor()
    await page.getByLabel('Address').fill('other@example.com')
    await page.getByText('It was added.').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('It is not suppressed.').waitFor()
    await sallyport.suppressions.remove({ address: 'old@example.com' })
  })

  it('An attempt is explained by its code', async () => {
    const { items } = await sallyport.dispatches.list({ status: 'partial' })
    await page.goto(`${host.url}dispatches/${items[0]?.dispatchId}`)
    await page.getByText('number_unknown').first().waitFor()
    await page.getByText('Look the code up at the provider.').waitFor()
    const attempt = page.getByRole('row').filter({ hasText: 'attempt 1' }).first()
    expect(await attempt.locator('time').count()).toBe(1)
    expect(explainOutcome('retry', 'smtp_auth').next).toBe('Correct the options of the channel in the host.')
    expect(explainOutcome('rejected', 'smtp_550', '5.1.1').means).toContain('The mailbox does not exist.')
    expect(explainOutcome('rejected', 'smtp_550', '5.9.9').means).toContain('The mail server answered 550.')
    expect(explainOutcome('retry', 'http_503').means).toBe('It was not sent. The receiver answered 503.')
  })

  it('A dry run is not asked for while the page is hidden, and marks an old result until the new one is there', async () => {
    const asked: string[] = []
    await page.route('**/outbound/dispatch', (route) => {
      asked.push(route.request().postData() ?? '')
      return route.continue()
    })
    await page.clock.install()
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.goto(`${host.url}events/sms`)
    // Effects wait for a frame, and so for the clock.
    await page.clock.runFor(100)
    const result = (busy: boolean) =>
      page.locator(`.beside .shown[aria-busy="${busy}"]`).getByText('The dispatch would be')
    await page.getByLabel('Recipient').fill('joe')
    await page.clock.runFor(500)
    await result(false).waitFor()
    await page.getByLabel('Recipient').fill('jo')
    await page.clock.runFor(100)
    await result(true).waitFor()
    await setHidden(page, true)
    await page.clock.runFor(1_000)
    expect(asked).toHaveLength(1)
    await setHidden(page, false)
    await page.clock.runFor(500)
    await result(false).waitFor()
    expect(asked.map((body) => JSON.parse(body).recipient)).toEqual(['joe', 'jo'])
  })

  it('A dry run or a look-up that fails does not promise to be repeated', async () => {
    await page.route('**/suppressions/find', (route) => route.abort())
    await page.goto(`${host.url}suppressions`)
    await page.getByLabel('Address').fill('new@example.com')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('The server cannot be reached. Try again in a moment.').waitFor()
  })

  it('Over plain HTTP the console says that it only reads, and offers no change', async () => {
    await page.addInitScript(() => Object.defineProperty(globalThis, 'isSecureContext', { value: false }))
    await page.goto(`${host.url}suppressions`)
    await page.getByText('Over plain HTTP the console only reads.').waitFor()
    expect(await page.getByRole('button', { name: 'Suppress', exact: true }).count()).toBe(0)
  })

  it('An opened plot has the width of its card at every width of the window', async () => {
    await page.goto(host.url)
    await page.getByRole('button', { name: 'Open plot' }).first().click()
    const plot = page.locator('.plot')
    await plot.locator('canvas').waitFor()
    for (const width of [500, 360, 1_200]) {
      await page.setViewportSize({ width, height: 760 })
      const [box, drawn] = [plot, plot.locator('.u-wrap')]
      const widthOf = (of: typeof box): Promise<number> => of.evaluate((element) => Reflect.get(element, 'clientWidth'))
      await expect.poll(async () => (await widthOf(drawn)) - (await widthOf(box)), PATIENT).toBe(0)
    }
  })
})

it('What can still be cancelled or retried is told by the deliveries', () => {
  const lost = (reason: string, attempts = 1) => ({ status: 'failed', reason, attempts })
  const [queued, sent] = [{ status: 'queued' }, { status: 'sent' }]
  expect([whyNotCancel([sent]), whyNotCancel([sent, queued]), whyNotCancel([{ status: '•••' }])]).toEqual([
    'Nothing is still to be sent.',
    undefined,
    undefined,
  ])
  const whyNot = (status: string, ...deliveries: Parameters<typeof whyNotRetry>[1]) => whyNotRetry(status, deliveries)
  expect(whyNot('sent', sent)).toBe('No delivery has failed or expired.')
  expect(whyNot('sent', lost('provider_rejected'), sent)).toBe('A later channel has sent it, or may still send it.')
  expect(whyNot('queued', lost('provider_rejected'), queued)).toBe('A later channel has sent it, or may still send it.')
  expect(whyNot('failed', lost('channel_error', 0))).toBe(
    'There is no message to send again: dispatch the event again.',
  )
  expect(whyNot('partial', lost('channel_error'), sent)).toBe(undefined)
  expect(whyNot('failed', { status: 'expired' })).toBe(undefined)
  expect(whyNot('•••', { status: null })).toBe(undefined)
})

it('A delivery that is not due yet waits for its time, not for a worker', () => {
  const meant = (waitsFor?: unknown) => explainDelivery('queued', undefined, waitsFor).means
  expect(meant('quiet_hours')).toBe('It waits for the end of quiet hours of the recipient.')
  expect(meant()).toBe('It waits for a worker.')
})

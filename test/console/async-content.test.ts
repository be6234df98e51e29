import { expect, it } from 'vitest'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createConsole } from '../../src/console/index.ts'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { createSallyport, defineEvents } from '../../src/index.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { recordingLogger, testAuth } from '../support/deps.ts'

it("A console's dry run shows asynchronous content, and why a field has none", async () => {
  const sallyport = createSallyport({
    auth: testAuth,
    store: memoryStore(),
    channels: { email: recordingChannel(), sms: recordingChannel() },
    events: defineEvents({
      'order.shipped': {
        channels: { email: { html: async () => '<p>On its way</p>' }, sms: { text: async () => undefined as never } },
      },
    }),
    logger: recordingLogger(),
  })
  const answer = toFetch(createConsole(sallyport, { access: () => 'read' }), { basePath: '/ops' })
  const body = JSON.stringify({ eventType: 'order.shipped', recipient: 'jane@example.com' })
  const headers = { 'x-sallyport-console': '1', 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const url = 'http://127.0.0.1/ops/api/outbound/dispatch'
  const dry = await answer(new Request(url, { method: 'POST', headers, body }))
  expect(await dry.json()).toMatchObject({
    dryRun: true,
    deliveries: [
      { channel: 'email', content: { html: '<p>On its way</p>' } },
      {
        channel: 'sms',
        reason: 'template_error',
        detail: 'text: the template function returned undefined; return a string or another JSON value',
      },
    ],
  })
})

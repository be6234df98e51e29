/** Prints the routes of a host with every plugin, or the statuses with which it answers the routes that are given. */
import process from 'node:process'
import { toFetch } from '../../src/adapters/fetch.ts'
import { createSallyport } from '../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { resend } from '../../src/feedback/resend.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { testAuth } from '../support/deps.ts'
import { everyPlugin } from '../support/every-plugin.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`

const { endpoints } = createSallyport({
  auth: testAuth,
  store: memoryStore(),
  events: defineEvents({ hello: { channels: { email: {} } } }),
  channels: { email: recordingChannel() },
  links: { baseUrl: 'https://app.example', keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }] },
  logger: { log() {} },
  plugins: everyPlugin({ consent: { feedback: { resend: resend({ channel: 'email', secret: SECRET }) } } }),
})
const [, , ...routes] = process.argv
const fetch = toFetch({ endpoints })

async function statusOf(route: string): Promise<number> {
  const [method = '', path = ''] = route.split(' ')
  const url = `https://app.example${path.replaceAll(/\{\w+\}/g, 'resend')}`
  return (await fetch(new Request(url, { method }))).status
}

const answer =
  routes.length > 0
    ? await Promise.all(routes.map(statusOf))
    : [
        ...endpoints.actions.map(({ method, path }) => `${method} ${path}`),
        ...(endpoints.open ?? []).map(({ path, parameter }) => `POST ${path}${parameter}`),
      ]
console.log(JSON.stringify(answer))

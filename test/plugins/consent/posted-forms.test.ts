import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { twilio } from 'sallyport/feedback/twilio'
import { expect, test } from 'vitest'
import { consent } from '../../../src/plugins/consent/consent.ts'
import { TWILIO_QUERY, TWILIO_TOKEN, TWILIO_URL, twilioRequest } from '../../feedback/signers.ts'
import { DISPATCH, floodedHost } from '../../hostile/floods/flooded-host.ts'

const PATH = '/api/outbound/feedback/tw'
const FORM = 'content-type: application/x-www-form-urlencoded'
const OPTIONS = {
  plugins: [
    consent({
      keys: [{ kid: 'k1', key: new Uint8Array(32).fill(7) }],
      feedback: { tw: twilio({ channel: 'email', authToken: TWILIO_TOKEN, url: TWILIO_URL }) },
    }),
  ],
}

/** As many short names as fit: the dearest form for a parser. */
function formOf(bytes: number): string {
  let form = ''
  for (let at = 0; form.length < bytes; at++) form += `${at.toString(36)}a=&`
  return form.slice(0, bytes)
}

type Host = Awaited<ReturnType<typeof floodedHost>>

/** Posts forms one after the other, each on a connection of its own, until it is told to stop. */
async function post(host: Host, form: string, signature: string, isOver: () => boolean): Promise<readonly string[]> {
  const answers: string[] = []
  while (!isOver()) {
    const socket = host.begin(PATH, [FORM, `x-twilio-signature: ${signature}`, `content-length: ${form.length}`])
    socket.write(form)
    const [answer] = await once(socket, 'data')
    answers.push(String(answer).split(' ', 2)[1] ?? '')
    socket.destroy()
    await setImmediate()
  }
  return answers
}

/** A body in two pieces, as one over a TLS record comes. */
async function postGenuine(host: Host, sid: string): Promise<string> {
  const { body, header } = twilioRequest({ MessageSid: sid, MessageStatus: 'delivered' })
  const socket = host.begin(`${PATH}${TWILIO_QUERY}`, [
    FORM,
    `x-twilio-signature: ${header('x-twilio-signature')}`,
    `content-length: ${body.byteLength}`,
  ])
  await once(socket, 'connect')
  await setImmediate()
  socket.write(body)
  const [answer] = await once(socket, 'data')
  return String(answer).split(' ', 2)[1] ?? ''
}

async function dispatch(host: Host): Promise<number> {
  const answer = await fetch(host.url + DISPATCH, {
    method: 'POST',
    headers: { authorization: 'Bearer acme.app', 'content-type': 'application/json' },
    body: JSON.stringify({ eventType: 'closed', recipient: 'ada@example.com' }),
  })
  await answer.body?.cancel()
  return answer.status
}

const WELL_FORMED = `${'A'.repeat(27)}=`

test.each([
  ['1 MB without the form of a signature', 2 ** 20, 'AAAA', '401'],
  ['1 MB with a forged signature', 2 ** 20, WELL_FORMED, '413'],
  ['the longest form that is read', 16 * 1_024, WELL_FORMED, '401'],
])(
  'Six posters of %s hold up neither dispatches nor feedback',
  { timeout: 120_000 },
  async (_, bytes, signature, status) => {
    const host = await floodedHost(undefined, OPTIONS)
    const form = formOf(bytes)
    let isOver = false
    const posters = Array.from({ length: 6 }, () => post(host, form, signature, () => isOver))
    const answers: (string | number)[] = []
    for (let at = 0; at < 40; at++) answers.push(await dispatch(host), await postGenuine(host, `SM${at}`))
    isOver = true
    const refused = (await Promise.all(posters)).flat()
    expect(answers).toEqual(Array.from({ length: 40 }, () => [202, '200']).flat())
    expect(new Set(refused)).toEqual(new Set([status]))
    expect(refused.length).toBeGreaterThanOrEqual(6)
    // A connection is closed with its refusal, when only what is in its buffers was read.
    if (bytes > 16 * 1_024) expect(host.bytesRead()).toBeLessThan((refused.length * bytes) / 2)
  },
)

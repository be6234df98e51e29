import { domainToASCII } from 'node:url'
import { createTransport } from 'nodemailer'
import { email } from 'sallyport/channels/email'
import { expect, onTestFinished, test } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { smtpPeer } from '../../channels/peers.ts'
import { recordingLogger, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { fc, runs, TIMEOUT_MS } from '../../support/properties.ts'
import { recipient } from './hostile-addresses.ts'

const BATCH = 100
const BATCHES = runs(100)

/** One `@`, and no character that separates, quotes, comments or routes. */
const PLAIN = /^[^@,;:"()<>[\]\\%!\s\p{Cc}]+@[^@,;:"()<>[\]\\%!\s\p{Cc}]+$/u

/** The mailbox with its domain in ASCII. */
function plain(mailbox: string): string {
  const at = mailbox.lastIndexOf('@')
  return `${mailbox.slice(0, at)}@${domainToASCII(mailbox.slice(at + 1))}`
}

/** A server that records every RCPT, and the recipients of each message by its Message-ID. */
async function server(): Promise<{ port: number; asked: string[]; letters: Map<string, string[]> }> {
  const asked: string[] = []
  const letters = new Map<string, string[]>()
  const port = await smtpPeer({
    onRcptTo({ address }, _session, done) {
      asked.push(address)
      done()
    },
    onData(stream, { envelope }, done) {
      const to = envelope.rcptTo.map(({ address }) => address)
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const [, id = ''] = /^Message-ID: <(.*)@shop\.test>\r$/im.exec(Buffer.concat(chunks).toString()) ?? []
        letters.set(id, [...(letters.get(id) ?? []), ...to])
        done()
      })
    },
  })
  return { port, asked, letters }
}

test(`Each of ${BATCH * BATCHES} fuzzed recipients gives one RCPT of exactly its mailbox, or none`, {
  timeout: TIMEOUT_MS,
}, async () => {
  const { port, asked, letters } = await server()
  const transport = createTransport({ pool: true, maxMessages: Infinity, host: '127.0.0.1', port, ignoreTLS: true })
  onTestFinished(() => transport.close())
  const fields = { subject: () => 'x', text: () => 'x' }
  const events = defineEvents({ e: { channels: { mail: fields } } })
  const counts = { sent: 0, refused: 0, elsewhere: 0 }

  await fc.assert(
    fc.asyncProperty(fc.array(recipient, { minLength: BATCH, maxLength: BATCH }), async (recipients) => {
      asked.length = 0
      letters.clear()
      const clock = fakeClock()
      const sallyport = createSallyport({
        ...{ auth: testAuth, events, clock, store: memoryStore({ clock }), logger: recordingLogger() },
        channels: { mail: email(transport, { from: 'orders@shop.test' }) },
      })
      const wanted = new Map<string, string>()
      for (const to of recipients) {
        const answer = await sallyport.dispatch({ eventType: 'e', recipient: to })
        if (!answer.ok) {
          counts.refused++
          expect(['recipient_unresolvable', 'validation_failed']).toContain(answer.body.code)
          continue
        }
        const [{ deliveryId = '', status, reason } = {}, ...more] = answer.body.deliveries
        expect(more).toEqual([])
        // A phone number or a URL is a valid recipient without a mailbox.
        if (status === 'queued') {
          expect(to).toMatch(PLAIN)
          wanted.set(deliveryId, plain(to))
        } else expect([status, reason, counts.elsewhere++]).toEqual(['skipped', 'no_address', expect.any(Number)])
      }
      await sallyport.worker.runDue()
      const got = [...letters].map(([deliveryId, to]) => [deliveryId, to.map(plain)] as const)
      expect(new Map(got)).toEqual(new Map([...wanted].map(([deliveryId, to]) => [deliveryId, [to]])))
      expect(asked.map(plain).sort()).toEqual([...wanted.values()].sort())
      counts.sent += wanted.size
    }),
    { numRuns: BATCHES },
  )
  expect(counts.sent).toBeGreaterThan((BATCH * BATCHES) / 10)
  expect(counts.refused).toBeGreaterThan((BATCH * BATCHES) / 10)
})

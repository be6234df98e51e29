import { describe, expect, it } from 'vitest'
import { snsRequests } from '../../src/feedback/sns-requests.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { NOW } from './requests.ts'
import { CERTIFICATE, CERTIFICATE_URL, snsServer } from './sns-peer.ts'

const VALID_FROM = Date.UTC(2026, 10, 23, 18, 26, 53)
const VALID_TO = Date.UTC(2126, 9, 30, 18, 26, 53)

const requestsTo = (answer: (url: string) => Response) => {
  const server = snsServer(answer)
  return { server, sns: snsRequests(server.fetch, 1_000, fakeClock()) }
}
const urlOf = (at: number): string => CERTIFICATE_URL.replace('.pem', `${at}.pem`)
/** A body in these pieces. */
const piecewise = (...pieces: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces)
        controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
      controller.close()
    },
  })

describe('the requests to SNS', () => {
  it('A certificate is valid from its first second to its last', async () => {
    const { sns } = requestsTo(() => new Response(CERTIFICATE))
    const isValidAt = async (now: number) => (await sns.certificate(CERTIFICATE_URL, now)) !== undefined
    expect(await isValidAt(VALID_FROM - 1)).toBe(false)
    expect(await isValidAt(VALID_FROM)).toBe(true)
    expect(await isValidAt(VALID_TO)).toBe(true)
    expect(await isValidAt(VALID_TO + 1)).toBe(false)
  })

  it('An answer of 500 or 429 throws, and another one than 200 has no certificate', async () => {
    for (const status of [429, 500, 503]) {
      const { sns } = requestsTo(() => new Response(CERTIFICATE, { status }))
      await expect(sns.certificate(CERTIFICATE_URL, NOW)).rejects.toThrow(
        'ses: the signing certificate cannot be loaded',
      )
    }
    for (const status of [201, 403, 404]) {
      const { sns } = requestsTo(() => new Response(CERTIFICATE, { status }))
      expect(await sns.certificate(CERTIFICATE_URL, NOW)).toBeUndefined()
    }
  })

  it('An answer that has no certificate is asked for again', async () => {
    let isThere = false
    const { sns, server } = requestsTo(() => new Response(isThere ? CERTIFICATE : 'no'))
    expect(await sns.certificate(CERTIFICATE_URL, NOW)).toBeUndefined()
    isThere = true
    expect(await sns.certificate(CERTIFICATE_URL, NOW)).toBeDefined()
    expect(await sns.certificate(CERTIFICATE_URL, NOW)).toBeDefined()
    expect(server.requested).toHaveLength(2)
  })

  it('The oldest of sixteen certificates is forgotten for the next one', async () => {
    const { sns, server } = requestsTo(() => new Response(CERTIFICATE))
    for (let at = 0; at < 17; at++) await sns.certificate(urlOf(at), NOW)
    expect(server.requested).toHaveLength(17)
    for (let at = 16; at > 0; at--) await sns.certificate(urlOf(at), NOW)
    expect(server.requested).toHaveLength(17)
    await sns.certificate(urlOf(0), NOW)
    expect(server.requested).toHaveLength(18)
  })

  it('A certificate in pieces is read, up to 16 KiB', async () => {
    const inPieces = requestsTo(() => new Response(piecewise(CERTIFICATE.slice(0, 100), CERTIFICATE.slice(100))))
    expect(await inPieces.sns.certificate(CERTIFICATE_URL, NOW)).toBeDefined()
    for (const [length, isRead] of [
      [16_384, true],
      [16_385, false],
    ] as const) {
      const { sns } = requestsTo(() => new Response(piecewise('\n'.repeat(length - CERTIFICATE.length), CERTIFICATE)))
      expect([length, (await sns.certificate(CERTIFICATE_URL, NOW)) !== undefined]).toEqual([length, isRead])
    }
  })

  it('A text that only begins or ends like a certificate is none', async () => {
    for (const text of [CERTIFICATE.slice(0, 200), `x${CERTIFICATE}`, '']) {
      const { sns } = requestsTo(() => new Response(text))
      expect(await sns.certificate(CERTIFICATE_URL, NOW)).toBeUndefined()
    }
  })

  it('A subscription is confirmed by an answer without a body, and an error says nothing of the URL', async () => {
    const { sns, server } = requestsTo(() => new Response(null, { status: 204 }))
    await sns.confirm('https://sns.us-east-1.amazonaws.com/?Token=secret')
    expect(server.requested).toEqual(['https://sns.us-east-1.amazonaws.com/?Token=secret'])
    for (const answer of [
      () => new Response('no', { status: 400 }),
      () => {
        throw new Error('https://sns.us-east-1.amazonaws.com/?Token=secret')
      },
    ])
      await expect(requestsTo(answer).sns.confirm('https://sns.us-east-1.amazonaws.com/?Token=secret')).rejects.toThrow(
        /^ses: the subscription cannot be confirmed$/,
      )
  })
})

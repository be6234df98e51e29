import { type FindWebhookSecret, webhook } from 'sallyport/channels/webhook'
import { expect, test, vi } from 'vitest'
import { recordingPeer, SECRET } from '../../channels/events.ts'
import { attempt, BODY, delivery, depsFor, waitForDue } from './attempting.ts'

test.each<[string, FindWebhookSecret, string, string]>([
  ['throws', () => Promise.reject(new RangeError(`the vault lost ${SECRET}`)), 'secret_error', 'RangeError'],
  ['returns no secret of Standard Webhooks', () => `${SECRET}!`, 'secret_invalid', 'SallyportError'],
  ['returns nothing', () => undefined, 'secret_missing', 'SallyportError'],
])(
  'If the secret function %s, the error is reported without the secret and the delivery is retried',
  async (...row) => {
    const [, broken, code, name] = row
    const { port, received } = await recordingPeer()
    const secret = vi.fn<FindWebhookSecret>(() => SECRET).mockImplementationOnce(broken)
    const onError = vi.fn()
    const deps = await depsFor(webhook({ secret, allowHttp: true, allowPrivateNetworks: true }), {
      body: { ...BODY, recipient: 'user_42' },
      recipients: { find: async (id) => ({ id, url: `http://127.0.0.1:${port}/hook` }) },
      hooks: { onError },
    })

    expect(await attempt(deps)).toBe('retried')
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attemptLog: [{ outcome: 'retry', code }] })
    expect(received).toHaveLength(0)
    const place = { deliveryId: 'dlv_2', channel: 'a' }
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ name }),
      expect.objectContaining({ operation: 'channel', eventType: 'e', ...place }),
    )
    const cause = expect.stringMatching(/^secret\(\) of the webhook channel .* whsec_ and base64 of 24 to 64 bytes/)
    const fields = expect.objectContaining({ ...place, attempt: 1, code, cause })
    expect(deps.logger.lines).toContainEqual({ level: 'error', event: 'channel.threw', fields })
    expect(JSON.stringify(deps.logger.lines)).not.toContain(SECRET.slice(6, 20))

    await waitForDue(deps)
    expect(await attempt(deps)).toBe('sent')
    expect(secret).toHaveBeenLastCalledWith({
      url: `http://127.0.0.1:${port}/hook`,
      recipient: 'user_42',
      tenant: 'default',
    })
    expect(received).toHaveLength(1)
  },
)

import { defineEvents, handleDispatch, handleSessionRun, isSallyportError } from 'sallyport'
import { appSecrets, generateAppSecret } from 'sallyport/auth'
import { log } from 'sallyport/channels/log'
import { sms } from 'sallyport/channels/sms'
import { quietHours } from 'sallyport/policy'
import { memoryStore } from 'sallyport/storage/memory'

/** Results of the parts, the same in every runtime. */
export async function withoutHttp(): Promise<unknown> {
  const { secret } = await generateAppSecret({ env: 'test' })
  const deps = {
    auth: appSecrets([secret]),
    events: defineEvents({ 'login.code': { channels: { log: { text: () => 'Is it you?' } } } }),
    store: memoryStore(),
    channels: { log: log({ write: () => {} }) },
  }
  const headers = { authorization: `Bearer ${secret}` }
  const dispatched = await handleDispatch(
    { headers, body: { category: 'c', eventType: 'login.code', recipient: 'u1' } },
    deps,
  )
  const recorded = await handleSessionRun({ headers, body: { sessionId: 's1', run: { runId: 'r1' } } }, deps)
  const refused = await handleDispatch({ headers: {}, body: {} }, deps)
  return {
    dispatch: dispatched.status,
    run: recorded.status,
    refused: refused.status,
    misuse: isMisuse(() => sms({ accountSid: '' })),
    quiet: await quiet(),
  }
}

/** A verdict on a message at midnight in Vienna, in summer: the runtime must know time zones. */
function quiet(): unknown {
  const at = Date.UTC(2026, 6, 1, 22)
  const policy = quietHours({ from: '23:00', to: '07:30', timeZone: 'Europe/Vienna' })
  return policy.decide({
    tenant: 't',
    category: 'c',
    eventType: 'e',
    critical: false,
    channel: 'c',
    recipient: { id: 'r' },
    at,
  })
}

function isMisuse(act: () => unknown): boolean {
  try {
    act()
    return false
  } catch (error) {
    return isSallyportError(error) && error.code === 'option_invalid'
  }
}

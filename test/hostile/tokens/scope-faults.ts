import { type Caller, GRANT } from './callers.ts'
import { ALL, type Answers, type Fault, type Faults, UNGRANTED } from './fault.ts'

const REFUSED = '422 query_invalid'

/** A request beyond the grant, and the application's answer to it. Default: success. */
type Overreach = readonly [name: string, event: NonNullable<Fault['event']>, reported?: string]

const OVERREACHES: readonly Overreach[] = [
  ['an event that is not granted', { eventType: 'order.paid' }],
  ['an event in upper case', { eventType: 'ORDER.SHIPPED' }, '422 event_unknown'],
  ['an unknown event', { eventType: 'order.lost' }, '422 event_unknown'],
  ['an event named __proto__', { eventType: '__proto__' }, '422 event_unknown'],
  ['a recipient that is not granted', { recipient: 'eve@example.com' }],
  ['a recipient that is a wildcard', { recipient: '*' }],
  ['a channel that is not granted', { channel: 'sms' }],
  ['a channel in upper case', { channel: 'EMAIL' }, '422 channel_unknown'],
  ['an unknown channel', { channel: 'pigeon' }, '422 channel_unknown'],
  ['a channel named toString', { channel: 'toString' }, '422 channel_unknown'],
  ['no channel, of two one not granted', { channel: undefined }],
  ['another session', { sessionId: 's2' }],
  ['its own session in upper case', { sessionId: 'S1' }],
]

/** Granted recipients and their look-alikes. */
const LOOK_ALIKES: Readonly<Record<string, readonly string[]>> = {
  user_42: ['USER_42', 'user_42 ', ' user_42', 'user_42\t', 'user_042', 'user_4２', 'user_42\u200b', 'user\u00ad_42'],
  'jane@example.com': [
    'Jane@example.com',
    'jane@Example.com',
    ' jane@example.com',
    'jane@example.com ',
    'jane@example.com.',
    'jane+1@example.com',
    'j\u0430ne@example.com',
    'ｊane@example.com',
    'jane@example.com,eve@example.com',
    'eve@example.com,jane@example.com',
    '<jane@example.com>',
    '"jane"@example.com',
    'Jane <jane@example.com>',
    'jane@example.com\r\nBcc: eve@example.com',
    'mailto:jane@example.com',
  ],
  'zo\u00eb': ['zoe', 'zoe\u0308', 'ZO\u00cb'],
  '+15550100': ['15550100', '+1 5550100', '+1555010', '+155501000', '+１5550100', 'tel:+15550100'],
}

/** Grants that do not cover the requests of the matrix. */
const GRANTS: Readonly<Record<string, Partial<typeof GRANT> | undefined>> = {
  'no grant to dispatch': undefined,
  'a grant of no event': { events: [] },
  'a grant of no channel': { channels: [] },
  'a grant of no recipient': { recipients: [] },
  'a grant of another event': { events: ['order.paid'] },
  'a grant of another channel': { channels: ['sms'] },
  'a grant of another recipient': { recipients: ['user_43'] },
  'a grant of event wildcards': { events: ['*', 'order.*'] },
  'a grant of a channel wildcard': { channels: ['*'] },
  'a grant of recipient wildcards': { recipients: ['*', 'user_*', '@example.com'] },
}

/** Requests that a valid token does not permit. An application may do all of them, within its tenant. */
export function scopeFaults(caller: Caller): Faults {
  const { mint, good } = caller
  const own = mint()
  const mayNot = good === ALL ? ALL : UNGRANTED

  const overreaches = OVERREACHES.map(([name, event, reported]): [string, Fault] => [
    name,
    {
      token: own,
      event,
      answers: good === ALL && reported ? { ...ALL, dispatch: reported, 'dry run': reported } : mayNot,
    },
  ])
  const lookAlikes = Object.entries(LOOK_ALIKES).flatMap(([granted, alikes]) => {
    const token = mint({ dispatch: { ...GRANT, recipients: [granted] } })
    const named = [[granted, good] as const, ...alikes.map((recipient) => [recipient, mayNot] as const)]
    return named.map(([recipient, answers]): [string, Fault] => [
      `${JSON.stringify(recipient)} for ${granted}`,
      { token, event: { recipient }, answers },
    ])
  })
  const grantless = Object.entries(GRANTS).map(([name, grant]): [string, Fault] => [
    name,
    { token: mint({ dispatch: grant && { ...GRANT, ...grant } }), answers: mayNot },
  ])
  return { ...Object.fromEntries([...overreaches, ...lookAlikes, ...grantless]), ...sessionFaults(caller, own) }
}

/** Sessions and tenants. No answer shows that a session of another tenant exists. */
function sessionFaults({ mint, good }: Caller, own: string): Faults {
  const isApplication = good === ALL
  const missing: Answers = { ...good, run: '404 session_not_found', batch: '200 [404 session_not_found]' }
  const foreign: Answers = { ...good, run: '403 insufficient_scope', batch: '200 [403 insufficient_scope]' }
  const theirs = { tenant: 'other', sessionId: 'theirs', dispatch: GRANT }
  return {
    'its own session by name': { token: own, event: { sessionId: 's1' }, answers: good },
    'a foreign session': { token: own, sessions: ['s2'], answers: isApplication ? good : foreign },
    'a session that is not there': { token: own, sessions: ['s9'], answers: isApplication ? missing : foreign },
    'a session in upper case': { token: own, sessions: ['S1'], answers: isApplication ? missing : foreign },
    'a foreign session among its own': {
      token: own,
      sessions: ['s1', 's2', 's1'],
      answers: { ...good, batch: isApplication ? '200 [201, 201, 201]' : '200 [201, 403 insufficient_scope, 201]' },
    },
    "another tenant's session": { token: own, sessions: ['theirs'], answers: isApplication ? missing : foreign },
    "another tenant's session, by a token of this one": {
      token: mint({ sessionId: 'theirs', dispatch: GRANT }),
      sessions: ['theirs'],
      answers: missing,
    },
    "another tenant's token for a session of this one": {
      token: mint({ tenant: 'other', dispatch: GRANT }),
      tenant: 'other',
      answers: missing,
    },
    "another tenant's token for its own session": {
      token: mint(theirs),
      sessions: ['theirs'],
      tenant: 'other',
      answers: good,
    },
    'an event and a space': {
      token: own,
      event: { eventType: 'order.shipped ' },
      answers: {
        ...good,
        dispatch: '422 validation_failed',
        'dry run': isApplication ? '422 validation_failed' : good['dry run'],
      },
    },
    'a dry run spelt otherwise': {
      token: own,
      query: { DryRun: 'true' },
      answers: { run: REFUSED, batch: REFUSED, dispatch: REFUSED, 'dry run': REFUSED },
    },
  }
}

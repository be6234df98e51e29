import type { Sentence } from './sentence.ts'

const ADDRESS = 'Correct the address.'
const WAIT = 'Wait, or write to another address of the recipient.'
const MESSAGE = 'Make the message smaller.'
const AUTHENTICATION = 'Set up SPF, DKIM and DMARC for the domain of the sender.'
const REPUTATION = 'Ask the operator of the mail server why, and see the lists of blocked servers.'

/** Subjects and details of enhanced status codes of mail servers: RFC 3463 and the registry of IANA. */
const STATUSES: Readonly<Record<string, Sentence>> = {
  '1.1': { means: 'The mailbox does not exist.', next: ADDRESS },
  '1.2': { means: 'The domain of the address does not exist, or takes no mail.', next: ADDRESS },
  '1.3': { means: 'The address is malformed.', next: ADDRESS },
  '1.6': { means: 'The mailbox has moved.', next: ADDRESS },
  '1.8': { means: 'The domain of the sender does not exist.', next: 'Correct the sender.' },
  '1.10': { means: 'The domain takes no mail.', next: ADDRESS },
  '2.1': { means: 'The mailbox is disabled.', next: WAIT },
  '2.2': { means: 'The mailbox is full.', next: WAIT },
  '2.3': { means: 'The message is larger than the mailbox takes.', next: MESSAGE },
  '3.4': { means: 'The message is larger than the mail server takes.', next: MESSAGE },
  '4.1': { means: 'The mail server of the recipient does not answer.', next: WAIT },
  '4.4': { means: 'There is no way to the mail server of the recipient.', next: ADDRESS },
  '4.7': { means: 'The message waited too long on its way.', next: WAIT },
  '7.0': { means: 'A rule of the mail server refuses it.', next: REPUTATION },
  '7.1': { means: 'The mail server refuses this sender or this message.', next: REPUTATION },
  '7.8': { means: 'The mail server refuses the login.', next: 'Correct the options of the channel in the host.' },
  '7.20': { means: 'The message has no DKIM signature that is right.', next: AUTHENTICATION },
  '7.23': { means: 'The SPF record does not allow the server that sends.', next: AUTHENTICATION },
  '7.25': { means: 'The address of the server that sends has no name.', next: 'Set its reverse DNS record.' },
  '7.26': { means: 'Neither SPF nor DKIM of the sender is right.', next: AUTHENTICATION },
  '7.28': { means: 'Too much mail came from this sender.', next: 'Send less at once.' },
}

/** Explanation of an enhanced status code; `undefined` for one that says nothing more than its class. */
export function explainMailStatus(status: unknown): Sentence | undefined {
  const [, detail = ''] = /^[245]\.(\d{1,3}\.\d{1,3})$/.exec(String(status)) ?? []
  return Object.hasOwn(STATUSES, detail) ? STATUSES[detail] : undefined
}

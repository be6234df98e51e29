import { verify } from 'node:crypto'
import { parseUrl } from '../model/parse-url.ts'
import { textAt } from './untrusted-json.ts'

/** A message of Amazon SNS, not yet proven. */
export interface SnsMessage {
  readonly type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'
  readonly id: string
  readonly topicArn: string
  /** The inner message, a text. */
  readonly message: string
  readonly timestamp: string
  readonly certificateUrl: string
  readonly subscribeUrl: string | undefined
  /** The text that the signature covers. */
  readonly signed: string
  readonly signature: Buffer
  readonly algorithm: 'RSA-SHA1' | 'RSA-SHA256'
}

const OF_NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type']
const OF_CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

const SIGNED: ReadonlyMap<string, readonly string[]> = new Map([
  ['Notification', OF_NOTIFICATION],
  ['SubscriptionConfirmation', OF_CONFIRMATION],
  ['UnsubscribeConfirmation', OF_CONFIRMATION],
])

const ALGORITHMS: ReadonlyMap<string, SnsMessage['algorithm']> = new Map([
  ['1', 'RSA-SHA1'],
  ['2', 'RSA-SHA256'],
])

/** Reads a message with a signature; `undefined` for anything else, such as a raw message. */
export function readSnsMessage(given: unknown): SnsMessage | undefined {
  const field = (name: string): string | undefined => textAt(given, name)
  const [type, id, topicArn, message] = [field('Type'), field('MessageId'), field('TopicArn'), field('Message')]
  const [timestamp, signature, certificateUrl] = [field('Timestamp'), field('Signature'), field('SigningCertURL')]
  const names = SIGNED.get(type ?? '')
  const algorithm = ALGORITHMS.get(field('SignatureVersion') ?? '')
  if (!names || !algorithm || !id || !topicArn || !message || !timestamp || !signature || !certificateUrl) {
    return undefined
  }
  const signed = names.flatMap((name) => {
    const value = field(name)
    return value === undefined ? [] : [`${name}\n${value}\n`]
  })
  return {
    type: type as SnsMessage['type'],
    ...{ id, topicArn, message, timestamp, certificateUrl, algorithm },
    subscribeUrl: field('SubscribeURL'),
    signed: signed.join(''),
    signature: Buffer.from(signature, 'base64'),
  }
}

export function isSignedBy(certificate: Parameters<typeof verify>[2], message: SnsMessage): boolean {
  try {
    return verify(message.algorithm, Buffer.from(message.signed), certificate, message.signature)
  } catch {
    return false
  }
}

const HOST = /^sns\.([a-z]{2,}(?:-[a-z]+)+-\d{1,2})\.amazonaws\.com(?:\.cn)?$/

/** A URL of SNS in the region of the topic: https, no other port, no credentials. */
function snsUrl(text: string, topicArn: string): URL | undefined {
  const url = parseUrl(text)
  const [, region] = HOST.exec(url?.hostname ?? '') ?? []
  if (url?.protocol !== 'https:' || region === undefined || region !== topicArn.split(':')[3]) return undefined
  return url.port === '' && url.username === '' && url.password === '' && url.hash === '' ? url : undefined
}

/** A query could make SNS repeat a text of the caller's as its answer, also one that looks like a certificate. */
export function certificateUrlOf({ certificateUrl, topicArn }: SnsMessage): string | undefined {
  const url = snsUrl(certificateUrl, topicArn)
  return url?.search === '' && /^\/[\w-]+\.pem$/.test(url.pathname) ? url.href : undefined
}

/** The URL that confirms the subscription of the message's own topic. */
export function confirmationUrlOf({ subscribeUrl = '', topicArn }: SnsMessage): string | undefined {
  const url = snsUrl(subscribeUrl, topicArn)
  const isConfirmation =
    url?.searchParams.get('Action') === 'ConfirmSubscription' && url.searchParams.get('TopicArn') === topicArn
  return isConfirmation ? url.href : undefined
}

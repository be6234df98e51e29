import { createSign, generateKeyPairSync } from 'node:crypto'
import type { FeedbackRequest } from '../../src/ports/feedback-source.ts'
import { NOW, requestOf } from './requests.ts'

/** A self-signed certificate for `sns.amazonaws.com` and its key, for tests only. */
export const CERTIFICATE: string = `-----BEGIN CERTIFICATE-----
MIIDGzCCAgOgAwIBAgIUWBOpAHhXQzrxkOvqppHcUADHT4MwDQYJKoZIhvcNAQEL
BQAwHDEaMBgGA1UEAwwRc25zLmFtYXpvbmF3cy5jb20wIBcNMjYxMTIzMTgyNjUz
WhgPMjEyNjEwMzAxODI2NTNaMBwxGjAYBgNVBAMMEXNucy5hbWF6b25hd3MuY29t
MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA5DE0Tw5O0/V2O7lzE2sJ
CdyAT9BR8EBcES33caxiS8IILS9/6MIL7H3/gJwYvARZqV3FViBFwZ0jgsFLG1bu
DYjWTFze+O/KBInW+f/+3sEv/I0MjV25iR10i7Swx0vP93CQtv2uY6M4h/3OzUfN
zPq5twm5w1/mTLoYaMaqsjG1zoB3sQIYrEayU3lkj4oSuF/8MSqZqCNcNMRoNzkV
CqSzJIg6mIBvY2nOtvPwyn8CHnJ/9eFVgkQQ08DcEp/txFItVldjC0oHGjjof3sw
lkZsHc1MODuYO1z2NFkvb2p4nchJs8By6Yojh3jBRRx0IrF8IY/T/XIqLlKJI76s
2QIDAQABo1MwUTAdBgNVHQ4EFgQUkQnCMKqIz7TdBenM8HxsA8066zMwHwYDVR0j
BBgwFoAUkQnCMKqIz7TdBenM8HxsA8066zMwDwYDVR0TAQH/BAUwAwEB/zANBgkq
hkiG9w0BAQsFAAOCAQEA3uO65mYTZ5X6tQeibhnQsIya6qxowq3pccevnrgyfWP9
4x4VLdGSYYXnzcxHz5Y8WJRCSctJxS8vl/EHFur5Vuw0/o7l1XaqDX4vGxSfaV0j
n9pNXlYVfcGIGhJnYutETbP4Gf5BLv45DP2+qVSoKfpRwd+HYm1NfTc03WUoAcvk
ADwjoOG8SJyKUtP6gbFz3lEAwP4x7qOGnuoC35rZQJuxv9819nZbfWeG09YIOwbW
xC26xJUlFMLtPNztqTMmazaeOSGP/OWCgPj99Q7PoLYmvkM3REZV3bU585aJ95lJ
4OcnrYsxnuwSQJn6mp5NuY3z8ne0BJHOShLxtQXZBQ==
-----END CERTIFICATE-----`

const KEY = `-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDkMTRPDk7T9XY7
uXMTawkJ3IBP0FHwQFwRLfdxrGJLwggtL3/owgvsff+AnBi8BFmpXcVWIEXBnSOC
wUsbVu4NiNZMXN7478oEidb5//7ewS/8jQyNXbmJHXSLtLDHS8/3cJC2/a5joziH
/c7NR83M+rm3CbnDX+ZMuhhoxqqyMbXOgHexAhisRrJTeWSPihK4X/wxKpmoI1w0
xGg3ORUKpLMkiDqYgG9jac628/DKfwIecn/14VWCRBDTwNwSn+3EUi1WV2MLSgca
OOh/ezCWRmwdzUw4O5g7XPY0WS9vanidyEmzwHLpiiOHeMFFHHQisXwhj9P9ciou
UokjvqzZAgMBAAECggEAAkfXnP6onQe0Ac7NrqEAOyAADEwptXv/L5DFC1bMuLMc
v87cuWfPFLMBrbhhqudkOgQc58p0yAWZCEKETKamxG3crnCzLcu/uiHiiyca1gEa
SKzkNjl8lDk+I/NPXP6N+owediW863QDKaDIw1Z3YRgUaRboy2IW/CdT/SAXLqa5
s3OavHmHlBeDSDPExG2pAfo02B0D0IoNmLr3BleReImx6GSBF1siWFuuNDtPHOjY
tMzvAlsif94Nct/UdsXGN7ElnzHjLKzFgnTivQMT3+Ihuf4vVqrULRPaOV9ynh1Y
1U137OMjdwijFYj3S+HIpdLsxVJGJy1xoIHIM8u8DQKBgQD8g/d/Z/yJ3g+DVMwG
IP/JFhnNldMXcyvhWzfOxAinAWnk/fQqEn+Bye/TUZ6V7ecIWrfQwCnbO3q8GQi5
MRLiy5Nk+ihJaKRSnnbvPhDHxCgC1dPVaIUaXuSmp6oM189XZcoUJMedu0dAp4Uf
5dgsKmWFD7TWp2jSq5E2tnhYNwKBgQDnV1A5hkeWxTDItMnpfmXE49n9PGxAVEkc
vfiRH1FVXyZOs+a7xA8devshV3QYuW8Wbw7KEIfaCAlOHRoa1CtWOLNTXYxd0AF6
8NrpRWVfdLSla/dhX3n5Aybl703R3ARJOKgiqL4RsYslQBQizKuliK8BhrLwQwr7
SrSJs0J7bwKBgCayJmxMyCNsdx4eEYHi7q+nBl891XJjgNbw/pVd7yGAkvS3ggIs
gYOnKWxNtqqtIVljZYXE3OUusTk/8NlITueYYMb5mtDdC0lp5Tn2XeXvBl6g2+x5
LuSCpDFxwhpju+9dtuDtXfWq7FlZEop302+5M4N3i7PVRbf6+K7UuY5zAoGBANMv
ZuIMjf+55Y3jVEteAqNZaV9+sEeNaezeEzLPxxzLLpo8Ko8QLMg5w1Utk6MabKmr
GnIl4w6LtYrkkDcbprAgNLwOsxvUzfUgOIcovaEFVf+I7xyp3xwN342aBo1kb1k0
anCxYEmgrSiFNZyLAMqtWy1mfKVOXpEGIodt6GvrAoGAMAM3bM7zFJuV77zdSjmh
IHy56PQ4vWRBU4/wBZ6b1LHhBa4XoEziV88vZAOyggR9Ixd8dNJUxSbYk5gEKfA6
RaX/rcjN7UODLkKS7B4fgrVXjGTNDz4knCYc0QLJj58O/+YYGthzAEqD2tjiowBz
rSbX6RR+7JA/eLJ0Z0fF3No=
-----END PRIVATE KEY-----`

export const OTHER_KEY: string = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey

export const TOPIC = 'arn:aws:sns:us-east-1:123456789012:ses-feedback'
export const CERTIFICATE_URL =
  'https://sns.us-east-1.amazonaws.com/SimpleNotificationService-f3ecfb7224c7233fe7bb5f59f96de52f.pem'
export const SUBSCRIBE_URL: string = `https://sns.us-east-1.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${encodeURIComponent(TOPIC)}&Token=2336412f37`

export type SnsFields = Readonly<Record<string, string>>

export const NOTIFICATION: SnsFields = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: TOPIC,
  Subject: 'Amazon SES Email Event Notification',
  Message: '{}',
  Timestamp: new Date(NOW - 5_000).toISOString(),
  SignatureVersion: '2',
  SigningCertURL: CERTIFICATE_URL,
  UnsubscribeURL: 'https://sns.us-east-1.amazonaws.com/?Action=Unsubscribe',
}

const { Subject: _, UnsubscribeURL: __, ...SHARED } = NOTIFICATION

export const SUBSCRIPTION: SnsFields = {
  ...SHARED,
  Type: 'SubscriptionConfirmation',
  Token: '2336412f37',
  Message: 'You have chosen to subscribe to the topic.',
  SubscribeURL: SUBSCRIBE_URL,
}

const SIGNED = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']

/** The fields with their signature, by the rules of the documentation of SNS. */
export function signed(fields: SnsFields, key: string = KEY): SnsFields {
  const sign = createSign(fields.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256')
  for (const name of SIGNED) if (fields[name] !== undefined) sign.update(`${name}\n${fields[name]}\n`)
  return { ...fields, Signature: sign.sign(key, 'base64') }
}

export function snsRequest(fields: SnsFields, key?: string): FeedbackRequest {
  return requestOf({ body: JSON.stringify(signed(fields, key)) })
}

/** A notification whose inner message is this text. */
export function sesRequest(message: string, change: SnsFields = {}): FeedbackRequest {
  return snsRequest({ ...NOTIFICATION, Message: message, ...change })
}

export interface SnsServer {
  readonly requested: readonly string[]
  readonly inits: readonly RequestInit[]
  fetch(url: string, init: RequestInit): Promise<Response>
}

/** A stand-in for the servers of SNS. Nothing connects. */
export function snsServer(answer: (url: string) => Response | Promise<Response> = defaultAnswer): SnsServer {
  const requested: string[] = []
  const inits: RequestInit[] = []
  return {
    requested,
    inits,
    async fetch(url, init) {
      requested.push(url)
      inits.push(init)
      return answer(url)
    },
  }
}

function defaultAnswer(url: string): Response {
  return new Response(url.endsWith('.pem') ? CERTIFICATE : '<ConfirmSubscriptionResponse/>')
}

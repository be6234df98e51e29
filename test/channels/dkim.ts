import { generateKeyPairSync } from 'node:crypto'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'

/** An RSA key pair: the private one as PEM, the public one as in a DNS record. */
export function dkimKeys(): { readonly privateKey: string; readonly record: string } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    record: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
  }
}

export interface DkimResult {
  readonly isValid: boolean
  /** `h=`: the signed headers, in lower case. */
  readonly signed: readonly string[]
}

/** Verifies the one signature of a mail with the library `mailauth`. The key comes from here instead of the DNS. */
export async function verifyDkim(mail: Buffer, record: string): Promise<DkimResult> {
  const { results } = await dkimVerify(mail, { resolver: async () => [[`v=DKIM1; k=rsa; p=${record}`]] })
  const [result, ...others] = results
  if (!result || others.length > 0) throw new Error('the mail does not have one signature')
  const { headers } = await PostalMime.parse(mail)
  const signature = headers.find(({ key }) => key === 'dkim-signature')?.value.replaceAll(/\s/g, '') ?? ''
  const [, signed = ''] = signature.match(/;h=([^;]+)/) ?? []
  return { isValid: result.status.result === 'pass', signed: signed.toLowerCase().split(':') }
}

import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'

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

/** Verifies the one signature of a mail: `rsa-sha256`, `relaxed/relaxed`, by RFC 6376, sections 3.4, 3.5 and 6.1. */
export function verifyDkim(mail: Buffer, record: string): DkimResult {
  const text = mail.toString('latin1')
  const end = text.indexOf('\r\n\r\n')
  const headers = text.slice(0, end + 2).match(/[^\r\n]+(?:\r\n[ \t][^\r\n]*)*\r\n/g) ?? []
  const signature = headers.find((header) => /^dkim-signature:/i.test(header)) ?? ''
  const tags = tagsOf(signature.slice(signature.indexOf(':') + 1))
  if (tags.v !== '1' || tags.a !== 'rsa-sha256' || tags.c !== 'relaxed/relaxed') throw new Error('is not signed so')
  const signed = (tags.h ?? '').split(':').map((name) => name.trim().toLowerCase())
  // Of several headers of one name the last one that is not used yet.
  const left = headers.filter((header) => header !== signature).reverse()
  const chosen = signed.flatMap((name) => {
    const at = left.findIndex((header) => nameOf(header) === name)
    return at < 0 ? [] : left.splice(at, 1)
  })
  const unsigned = signature.replace(/([;\s]b=)[^;]*/, '$1')
  const input = `${chosen.map((header) => `${relaxed(header)}\r\n`).join('')}${relaxed(unsigned)}`
  const key = createPublicKey({ key: Buffer.from(record, 'base64'), type: 'spki', format: 'der' })
  const isSigned = verify('sha256', Buffer.from(input, 'latin1'), key, Buffer.from(tags.b ?? '', 'base64'))
  const hash = createHash('sha256')
    .update(relaxedBody(text.slice(end + 4)), 'latin1')
    .digest('base64')
  return { isValid: isSigned && hash === tags.bh, signed }
}

function nameOf(header: string): string {
  return header.slice(0, header.indexOf(':')).trim().toLowerCase()
}

function tagsOf(list: string): Record<string, string> {
  const tags = list.split(';').filter((tag) => tag.includes('='))
  return Object.fromEntries(
    tags.map((tag) => {
      const at = tag.indexOf('=')
      return [tag.slice(0, at).trim(), tag.slice(at + 1).replaceAll(/\s+/g, '')]
    }),
  )
}

/** RFC 6376, section 3.4.2, without the final line break. */
function relaxed(header: string): string {
  const value = header.slice(header.indexOf(':') + 1).replaceAll('\r\n', '')
  return `${nameOf(header)}:${value.replaceAll(/[ \t]+/g, ' ').trim()}`
}

/** RFC 6376, section 3.4.4. */
function relaxedBody(body: string): string {
  const lines = body.split('\r\n').map((line) => line.replaceAll(/[ \t]+/g, ' ').replace(/ $/, ''))
  while (lines.at(-1) === '') lines.pop()
  return lines.map((line) => `${line}\r\n`).join('')
}

import type { HandlerRequest } from '../core/answers/result.ts'
import { fastestSha256 } from '../runtime/fastest-sha256.ts'
import type { Wire } from './wire.ts'

const sha256 = fastestSha256()

/** Adds an entity tag to a successful read, and answers 304 when the caller has this text already (RFC 9110 section 13.1.2). */
export async function conditional(wire: Wire, headers: HandlerRequest['headers']): Promise<Wire> {
  if (wire.status !== 200) return wire
  const etag = `"${(await sha256(wire.text)).slice(0, 32)}"`
  if (!isKnown(etag, headers['if-none-match'])) return { ...wire, headers: { ...wire.headers, etag } }
  const { 'content-type': _, ...kept }: Record<string, string> = wire.headers
  return { status: 304, headers: { ...kept, etag }, text: '' }
}

function isKnown(etag: string, header: string | readonly string[] | undefined): boolean {
  const tags = [header ?? []].flat().join(',').split(',')
  return tags.some((tag) => tag.trim().replace(/^W\//, '') === etag || tag.trim() === '*')
}

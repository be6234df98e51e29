import { type HandlerRequest, type Refused, refuse } from '../core/answers/result.ts'

const PLAIN = 'application/json'

/** Refuses a body that its headers do not call plain JSON in UTF-8: 415, with what would be taken in `Accept…`. */
export function checkContent(headers: HandlerRequest['headers']): Refused | undefined {
  const type = headers['content-type']
  if (type !== PLAIN && !(typeof type === 'string' && isJson(type))) {
    return refuse('unsupported_media_type', 'Send the body as application/json, in UTF-8.', {
      headers: { accept: PLAIN },
    })
  }
  const encoding = headers['content-encoding']
  if (encoding === undefined || (typeof encoding === 'string' && /^(?:identity)?$/i.test(encoding.trim()))) return
  return refuse('unsupported_media_type', 'Send the body as it is: no Content-Encoding is taken.', {
    headers: { 'accept-encoding': 'identity' },
  })
}

/** Parameters other than `charset` mean nothing here (RFC 8259 defines none) and are passed over. */
function isJson(type: string): boolean {
  const [essence = '', ...parameters] = type.toLowerCase().split(';')
  return essence.trim() === PLAIN && parameters.every(isHarmless)
}

function isHarmless(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2)
  return name.trim() !== 'charset' || ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(value.trim())
}

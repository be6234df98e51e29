import { type HandlerRequest, type Refused, refuse } from '../core/answers/result.ts'
import { JSON_TYPE } from './wire.ts'

/** Refuses a body that is not declared as plain JSON in UTF-8: 415, with `Accept` or `Accept-Encoding`. */
export function checkContent(headers: HandlerRequest['headers']): Refused | undefined {
  const type = headers['content-type']
  if (type !== JSON_TYPE && !(typeof type === 'string' && isJson(type))) {
    return refuse('unsupported_media_type', 'Send the body as application/json, in UTF-8.', {
      headers: { accept: JSON_TYPE },
    })
  }
  return checkEncoding(headers)
}

/** Refuses a compressed body: 415, with `Accept-Encoding`. */
export function checkEncoding(headers: HandlerRequest['headers']): Refused | undefined {
  const encoding = headers['content-encoding']
  if (encoding === undefined || (typeof encoding === 'string' && /^(?:identity)?$/i.test(encoding.trim()))) return
  return refuse('unsupported_media_type', 'Send the body as it is: no Content-Encoding is taken.', {
    headers: { 'accept-encoding': 'identity' },
  })
}

/** Ignores parameters other than `charset`: RFC 8259 defines none. */
function isJson(type: string): boolean {
  const [essence = '', ...parameters] = type.toLowerCase().split(';')
  return essence.trim() === JSON_TYPE && parameters.every(isUtf8OrIgnored)
}

function isUtf8OrIgnored(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2)
  return name.trim() !== 'charset' || ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(value.trim())
}

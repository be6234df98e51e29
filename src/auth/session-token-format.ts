/** What the `typ` header of a session token says, so that no other JWT under the same key can pass for one (RFC 8725). */
export const SESSION_TOKEN_TYP = 'sallyport-session+jwt'

/** The longest bearer token that is read from a request. */
export const LONGEST_TOKEN = 4_096

const JWS_COMPACT = /^[\w-]+\.[\w-]+\.[\w-]+$/

/** Whether a text has the shape of a signed JWT: three base64url parts, none of them empty. */
export function isJwtShaped(token: string): boolean {
  return token.length <= LONGEST_TOKEN && JWS_COMPACT.test(token)
}

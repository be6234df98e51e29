import type { Caller } from './callers.ts'
import { always, type Fault, type Faults, INVALID, UNAUTHORIZED } from './fault.ts'

const BASIC = `Basic ${Buffer.from('user:pass').toString('base64')}`
const TOO_LONG = always('431')
const BAD_REQUEST = always('400')

/** Faults in the `Authorization` header around a valid token, or a valid token in another place. */
export function headerFaults({ mint, good }: Caller): Faults {
  const t = mint()
  const cut = t.length >> 1
  /** HTTP trims white space around a value, which leaves a valid header. */
  const trimmed = { answers: INVALID, overHttp: good }

  const lines: Readonly<Record<string, Omit<Fault, 'token'>>> = {
    'no header': { authorization: null, answers: UNAUTHORIZED },
    'an empty header': { authorization: '', answers: UNAUTHORIZED },
    'white space alone': { authorization: ' \t ', answers: UNAUTHORIZED },
    'no scheme': { authorization: t, answers: UNAUTHORIZED },
    'Bearer in lower case': { authorization: `bearer ${t}`, answers: good },
    'Bearer in upper case': { authorization: `BEARER ${t}`, answers: good },
    'several spaces after the scheme': { authorization: `Bearer    ${t}`, answers: good },
    'Bearer alone': { authorization: 'Bearer', answers: INVALID },
    'Bearer and a space': { authorization: 'Bearer ', answers: INVALID },
    'Bearer twice': { authorization: `Bearer Bearer ${t}`, answers: INVALID },
    'Bearer with a colon': { authorization: `Bearer: ${t}`, answers: UNAUTHORIZED },
    'Bearer and no space': { authorization: `Bearer${t}`, answers: UNAUTHORIZED },
    'Bearer with an equals sign': { authorization: `Bearer=${t}`, answers: UNAUTHORIZED },
    'Bearer in full-width letters': { authorization: `Ｂearer ${t}`, answers: UNAUTHORIZED },
    'a tab after the scheme': { authorization: `Bearer\t${t}`, answers: UNAUTHORIZED },
    'a tab and a space after the scheme': { authorization: `Bearer \t${t}`, answers: INVALID },
    'Basic with another token': { authorization: BASIC, answers: UNAUTHORIZED },
    'Basic with the token': { authorization: `Basic ${t}`, answers: UNAUTHORIZED },
    'Token with the token': { authorization: `Token ${t}`, answers: UNAUTHORIZED },
    'DPoP with the token': { authorization: `DPoP ${t}`, answers: UNAUTHORIZED },
    'Digest with the token': { authorization: `Digest username="${t}"`, answers: UNAUTHORIZED },
    'two headers, the first good': { authorization: [`Bearer ${t}`, 'Bearer x'], answers: INVALID },
    'two headers, the second good': { authorization: ['Bearer x', `Bearer ${t}`], answers: INVALID },
    'two headers, both good': { authorization: [`Bearer ${t}`, `Bearer ${t}`], answers: INVALID },
    'two headers, one Basic': { authorization: [BASIC, `Bearer ${t}`], answers: INVALID },
    'two headers, one empty': { authorization: [`Bearer ${t}`, ''], answers: INVALID },
    'three headers': { authorization: [`Bearer ${t}`, `Bearer ${t}`, `Bearer ${t}`], answers: INVALID },
    'two joined with a comma': { authorization: `Bearer ${t}, Bearer ${t}`, answers: INVALID },
    'two tokens joined with a comma': { authorization: `Bearer ${t},${t}`, answers: INVALID },
    'Basic joined with a comma': { authorization: `${BASIC}, Bearer ${t}`, answers: UNAUTHORIZED },
    'a comma at the end': { authorization: `Bearer ${t},`, answers: INVALID },
    'a space before': { authorization: ` Bearer ${t}`, answers: UNAUTHORIZED, overHttp: good },
    'a tab before': { authorization: `\tBearer ${t}`, answers: UNAUTHORIZED, overHttp: good },
    'a space after': { authorization: `Bearer ${t} `, ...trimmed },
    'a tab after': { authorization: `Bearer ${t}\t`, ...trimmed },
    'a space within': { authorization: `Bearer ${t.slice(0, cut)} ${t.slice(cut)}`, answers: INVALID },
    'a tab within': { authorization: `Bearer ${t.slice(0, cut)}\t${t.slice(cut)}`, answers: INVALID },
    'a no-break space after': { authorization: `Bearer ${t}\u00a0`, answers: INVALID },
    'a zero-width space within': { authorization: `Bearer ${t.slice(0, cut)}\u200b${t.slice(cut)}`, answers: INVALID },
    'a byte order mark before the token': { authorization: `Bearer \ufeff${t}`, answers: INVALID },
    'a NUL after': { authorization: `Bearer ${t}\0`, answers: INVALID, overHttp: BAD_REQUEST },
    'a NUL within': {
      authorization: `Bearer ${t.slice(0, cut)}\0${t.slice(cut)}`,
      answers: INVALID,
      overHttp: BAD_REQUEST,
    },
    'a line break and another header': { authorization: `Bearer ${t}\r\nx-other: y`, ...trimmed },
    'a carriage return after': { authorization: `Bearer ${t}\rx`, answers: INVALID, overHttp: BAD_REQUEST },
    'a folded line': { authorization: `Bearer\r\n ${t}`, answers: UNAUTHORIZED, overHttp: BAD_REQUEST },
    'double quotes': { authorization: `Bearer "${t}"`, answers: INVALID },
    'angle brackets': { authorization: `Bearer <${t}>`, answers: INVALID },
    'percent-encoding': { authorization: `Bearer %${t.charCodeAt(0).toString(16)}${t.slice(1)}`, answers: INVALID },
    'a parameter': { authorization: `Bearer token="${t}"`, answers: INVALID },
    'padding after': { authorization: `Bearer ${t}=`, answers: INVALID },
    'a dot after': { authorization: `Bearer ${t}.`, answers: INVALID },
    'SQL after': { authorization: `Bearer ${t}'--`, answers: INVALID },
  }

  const elsewhere: Readonly<Record<string, Omit<Fault, 'token'>>> = {
    'the token in X-Api-Key': { headers: { 'x-api-key': t }, answers: UNAUTHORIZED },
    'the token in Proxy-Authorization': { headers: { 'proxy-authorization': `Bearer ${t}` }, answers: UNAUTHORIZED },
    'the token in X-Forwarded-Authorization': {
      headers: { 'x-forwarded-authorization': `Bearer ${t}` },
      answers: UNAUTHORIZED,
    },
    'the token in a cookie': { headers: { cookie: `access_token=${t}` }, answers: UNAUTHORIZED },
    'the token in the query': { query: { access_token: t }, answers: UNAUTHORIZED },
    'the token in the body': { event: { access_token: t }, answers: UNAUTHORIZED },
  }

  const headerless = Object.entries(elsewhere).map(
    ([name, fault]) => [name, { ...fault, authorization: null }] as const,
  )
  return {
    'nothing wrong': { token: t, answers: good },
    ...Object.fromEntries(
      [...Object.entries(lines), ...headerless].map(([name, fault]) => [name, { ...fault, token: t }]),
    ),
    ...Object.fromEntries(LENGTHS.map((length) => [`${length} characters`, ofLength(t, length)])),
  }
}

/** Lengths around zero, a whole secret (44 to 59), the longest token, and Node's limit of headers. */
const LENGTHS = [
  ...[1, 2, 3, 7, 8, 9, 42, 43, 44, 45, 46, 47, 58, 59, 60, 61, 64, 255, 256, 1_023, 1_024],
  ...[4_094, 4_095, 4_096, 4_097, 4_098, 5_000, 8_191, 8_192, 16_000, 20_000],
]

/** The token truncated or extended to another length. */
function ofLength(token: string, length: number): Fault {
  const other = length === token.length ? `${token.slice(0, -1)}~` : token.slice(0, length).padEnd(length, 'a')
  const isTooLong = length > 16_384
  return { token: other, answers: INVALID, ...(isTooLong && { overHttp: TOO_LONG }) }
}

type Headers = Readonly<Record<string, string>>

const UNSUBSCRIBE = 'list-unsubscribe'
const POST = 'list-unsubscribe-post'

/** Visible ASCII without `<` and `>`; the header's line stays below 998 characters (RFC 5322, section 2.1.1). */
const HEADER_URL = /^[\x21-\x3b\x3d\x3f-\x7e]{1,970}$/

/**
 * Adds the headers of a one-click unsubscription (RFC 8058). A mail with its own `List-Unsubscribe` keeps its headers; a URL that fits no
 * header is left out.
 */
export function withListUnsubscribe(headers: Headers, url: string): Headers {
  if (hasHeader(headers, UNSUBSCRIBE) || !HEADER_URL.test(url)) return headers
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== POST)
  return {
    ...Object.fromEntries(others),
    'List-Unsubscribe': `<${url}>`,
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  }
}

/**
 * Headers that nodemailer signs by default, and `List-Unsubscribe-Post`: RFC 8058 requires a valid signature over it, otherwise mailbox
 * providers show no button.
 */
const SIGNED = [
  ...['From', 'Sender', 'Reply-To', 'Subject', 'Date', 'Message-ID', 'To', 'Cc', 'MIME-Version', 'Content-Type'],
  ...['Content-Transfer-Encoding', 'Content-ID', 'Content-Description', 'Resent-Date', 'Resent-From', 'Resent-Sender'],
  ...['Resent-To', 'Resent-Cc', 'Resent-Message-ID', 'In-Reply-To', 'References', 'List-Id', 'List-Help'],
  ...['List-Unsubscribe', 'List-Subscribe', 'List-Post', 'List-Owner', 'List-Archive', 'OTP-Token'],
  'List-Unsubscribe-Post',
]

/** DKIM options of one mail for nodemailer; the options of the transport precede. `undefined`: the defaults are enough. */
export function dkimOptions(headers: Headers): { headerFieldNames: string } | undefined {
  return hasHeader(headers, POST) ? { headerFieldNames: SIGNED.join(':') } : undefined
}

function hasHeader(headers: Headers, wanted: string): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === wanted)
}

import { generateAppSecret } from '../auth/app-secret.ts'
import { issueSessionToken } from '../auth/issue-session-token.ts'
import type { SessionTokenGrants } from '../auth/session-token-claims.ts'
import type { Given } from './arguments.ts'
import type { Command } from './command.ts'
import { printJson } from './table.ts'
import { EXIT, UsageError } from './terminal.ts'

export const secret: Command = {
  usage: '[--env live] [--json]',
  about: 'Generate an application secret.',
  options: { env: 'text', json: 'flag' },
  help: [
    '--env NAME   environment in the text of the secret, 1-16 of a-z 0-9 (default: live)',
    '--json       print { id, secret, sha256 }',
    'When piped, prints the secret alone.',
  ],
  async run(given, terminal) {
    const made = await generateAppSecret({ env: given.text('env') ?? 'live' })
    if (given.flag('json')) printJson(made, terminal)
    else if (!terminal.isInteractive) terminal.out(`${made.secret}\n`)
    else {
      terminal.out(`secret  ${made.secret}\nid      ${made.id}\nsha256  ${made.sha256}\n`)
      terminal.err('Give the secret to the application, and { id, sha256 } to appSecrets. It cannot be shown again.\n')
    }
    return EXIT.done
  },
}

const KEY = 'SALLYPORT_TOKEN_KEY'

export const token: Command = {
  usage:
    '--session ID --kid ID --audience NAME [--user ID] [--tenant ID] [--expires-in 15m] [--event TYPE --channel NAME --recipient ID] [--approval TYPE]',
  about: `Issue a session token, signed with the key in ${KEY} (HS256).`,
  options: {
    ...{ session: 'text', kid: 'text', audience: 'text', issuer: 'text', user: 'text', tenant: 'text' },
    ...{ 'expires-in': 'text', event: 'list', channel: 'list', recipient: 'list', approval: 'list', json: 'flag' },
  },
  help: [
    '--session ID      the only session of the token',
    '--kid ID          id of the key, as in sessionTokens',
    '--audience NAME   the audience of sessionTokens; --issuer NAME if it has one',
    '--user ID         user whose runs it records (default: none)',
    '--expires-in 15m  lifetime, up to 1h',
    '--event, --channel, --recipient   all three, each may be repeated: what it may dispatch (default: nothing)',
    '--approval TYPE   an event by which it may ask for approval, may be repeated (default: none)',
    `The key is read from ${KEY}: 32 or more random bytes as base64url. It is no option, because other users of the machine see options.`,
  ],
  async run(given, terminal) {
    const key = terminal.env[KEY]
    if (!key) throw new UsageError(`${KEY} is not set`)
    const grants = grantsOf(given)
    const ms = given.duration('expires-in')
    const [userId, tenant, issuer] = [given.text('user'), given.text('tenant'), given.text('issuer')]
    const issued = await issueSessionToken({
      sessionId: given.required('session'),
      audience: given.required('audience'),
      key: { kid: given.required('kid'), key },
      ...(userId !== undefined && { userId }),
      ...(tenant !== undefined && { tenant }),
      ...(issuer !== undefined && { issuer }),
      ...(ms !== undefined && { expiresInSeconds: Math.floor(ms / 1_000) }),
      ...(grants && { grants }),
    })
    if (given.flag('json')) printJson({ token: issued }, terminal)
    else terminal.out(`${issued}\n`)
    return EXIT.done
  },
}

function grantsOf(given: Given): SessionTokenGrants | undefined {
  const [events, channels, recipients] = [given.list('event'), given.list('channel'), given.list('recipient')]
  const asking = given.list('approval')
  const isWhole = events && channels && recipients
  if (!isWhole && (events || channels || recipients))
    throw new UsageError('give --event, --channel and --recipient together: without one of them nothing is granted')
  if (!isWhole && !asking) return undefined
  return {
    ...(isWhole && { dispatch: { events, channels, recipients } }),
    ...(asking && { approval: { events: asking } }),
  }
}

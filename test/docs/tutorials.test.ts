import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../support/entries.ts'
import { type Program, startNode } from '../support/program.ts'
import { codeFile, tutorials } from './tutorials.ts'

/** Files of tutorials with changes, as a page proposes them. */
const CHANGED = 'test/docs/.snippets-tutorials'

const root = fileURLToPath(ROOT)
const programs: Program[] = []
let changes = 0

beforeAll(() => mkdirSync(`${root}${CHANGED}`, { recursive: true }))
afterAll(() => {
  for (const program of programs) program.signal('SIGKILL')
  rmSync(`${root}${CHANGED}`, { recursive: true, force: true })
})

interface Run {
  readonly code: number | NodeJS.Signals
  readonly output: string
}

/** Runs a file to its end. */
async function runFile(file: string, args: readonly string[] = [], env: Record<string, string> = {}): Promise<Run> {
  const program = startNode(['--import', 'tsx', file, ...args], root, { NODE_ENV: 'test', ...env })
  programs.push(program)
  return { code: await program.ended, output: program.lines.join('\n') }
}

const run = (name: string, args?: readonly string[], env?: Record<string, string>): Promise<Run> =>
  runFile(codeFile(name), args, env)

/** Runs the code of a tutorial with other texts. */
async function runChanged(name: string, ...others: readonly (readonly [from: string, to: string])[]): Promise<Run> {
  let code = readFileSync(`${root}${codeFile(name)}`, 'utf8')
  for (const [from, to] of others) {
    expect(code).toContain(from)
    code = code.replaceAll(from, to)
  }
  const file = `${CHANGED}/${name}-${++changes}.ts`
  writeFileSync(`${root}${file}`, code)
  return runFile(file)
}

/** The part of an output that begins with a line and ends before another one, or at the end. */
function part(run: Run, from: string, to?: string): string {
  const output = `\n${run.output}\n`
  const start = output.indexOf(`\n${from}\n`)
  expect(start, `${from} in:\n${output}`).toBeGreaterThanOrEqual(0)
  const end = to === undefined ? output.length : output.indexOf(`\n${to}`, start + 1)
  return output.slice(start + from.length + 2, end).trimEnd()
}

const count = (text: string, what: string): number => text.split(what).length - 1

/** Lines of the block of a page that shows an output. */
function shown(name: string, block = 0): readonly string[] {
  const page = readFileSync(`${root}docs/tutorials/${name}.md`, 'utf8')
  const [, text = ''] = [...page.matchAll(/^```text\n(.*?)^```$/gms)][block] ?? []
  return comparable(text)
}

/** Lines without links and ids, which differ in each run. */
function comparable(text: string): readonly string[] {
  return text.split('\n').map((line) =>
    line
      .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '')
      .replace(/http:\S+/, 'http://…')
      .trimEnd(),
  )
}

it('Every tutorial is tested', () => {
  expect(tutorials()).toEqual(['agent-approval', 'order-mail', 'password-reset', 'production', 'weekly-digest'])
})

describe('the password reset', () => {
  it('The reset arrives once by the first provider, then by the second, then as a text, and a failure is shown', async () => {
    const all = await run('password-reset')
    expect(all.code).toBe(0)
    const titles = [
      'Everything works, and the user clicks twice',
      'Nobody has this name',
      'The first mail provider is down',
      'Both mail providers are down',
      'Nobody can send',
    ]
    const [works, nobody, second, texts, none] = titles.map((title, at) => part(all, title, titles[at + 1]))
    const onItsWay = '  the user sees: If this account exists, a link is on its way.'
    const unneeded = '  sms: skipped, fallback_unneeded, attempts 0'
    const mail = (by: string): string => `  mail by ${by} to ada@example.com: Reset your password`
    expect(works?.split('\n')).toEqual([mail('first'), '  email: sent, attempts 1', unneeded, onItsWay])
    expect(nobody).toBe(onItsWay)
    expect(second?.split('\n')).toEqual([mail('second'), '  email: sent, attempts 1', unneeded, onItsWay])
    expect(texts?.split('\n')).toEqual([
      expect.stringMatching(/^ {2}text to \+15005550100: Reset your password: https:/),
      '  email: failed, attempts_exhausted, attempts 3, smtp_451',
      '  sms: sent, attempts 1',
      onItsWay,
    ])
    expect(none?.split('\n')).toEqual([
      '  email: failed, attempts_exhausted, attempts 3, smtp_451',
      '  sms: failed, attempts_exhausted, attempts 2, http_503',
      '  the user sees: We cannot send messages at the moment. Try again in some minutes.',
    ])
  })

  it('Without the failover, a text is sent after three attempts', async () => {
    const all = await runChanged('password-reset', [
      'failover({ first: first.channel, second: second.channel })',
      'first.channel',
    ])
    const second = part(all, 'The first mail provider is down', 'Both mail providers are down')
    expect(second).not.toContain('mail by')
    expect(second).toContain('email: failed, attempts_exhausted, attempts 3')
    expect(count(second, 'text to')).toBe(1)
  })

  it('Without the route, a reset sends both', async () => {
    const all = await runChanged('password-reset', ["    route: 'first',\n", ''])
    const works = part(all, 'Everything works, and the user clicks twice', 'Nobody has this name')
    expect([count(works, 'mail by'), count(works, 'text to')]).toEqual([1, 1])
  })

  it('A new link for the same form is refused, and without a key the person gets two mails', async () => {
    const fresh = await runChanged('password-reset', ['links.get(formId) ?? ', ''])
    expect(fresh.code).toBe(1)
    expect(fresh.output).toContain('Error: ')
    expect(fresh.output).toMatch(/idempotency.key/i)
    const keyless = await runChanged('password-reset', [`, { idempotencyKey: \`reset-\${userId}-\${formId}\` }`, ''])
    expect(count(part(keyless, 'Everything works, and the user clicks twice', 'Nobody has this name'), 'mail by')).toBe(
      2,
    )
  })
})

describe('the order mail', () => {
  it('An order and its mail are stored together, and a rollback sends nothing', async () => {
    const all = await run('order-mail')
    expect(all.code).toBe(0)
    expect([...comparable(all.output), '']).toEqual(shown('order-mail'))
    expect(count(all.output, 'mail to')).toBe(1)
  })

  it('A mail of a process that was killed after the commit is sent by the next one', async () => {
    const env = { ORDERS_FILE: `${root}${CHANGED}/orders.db` }
    const killed = await run('order-mail', ['crash'], env)
    expect(killed.code).toBe('SIGKILL')
    expect(killed.output).not.toContain('mail to')
    const next = await run('order-mail', [], env)
    const left = part(next, 'What an earlier process has left is sent first', 'A refused recipient')
    expect(left).toMatch(/^ {2}mail to ada@example.com: Your order \S+\n {2}orders: 1; messages: sent$/)
    const begin = shown('order-mail', 1).slice(0, -1)
    expect(comparable(next.output).slice(0, begin.length)).toEqual(begin)
    expect(begin.at(-1)).toBe('  orders: 2; messages: queued, sent')
  })

  it('An unread refusal commits an order without a mail, and a dispatch outside of the transaction is refused', async () => {
    const unread = await runChanged('order-mail', ['dispatchOrThrow(', 'dispatch('])
    expect(part(unread, 'A refused recipient', 'A good order')).toBe('  orders: 1; messages: none')
    const outside = await runChanged('order-mail', ['store: store.within(trx),', ''])
    expect(part(outside, 'A good order', 'The second order')).toContain('store_unavailable')
  })

  it('A second order of the same id is refused with its mail', async () => {
    const twice = await runChanged('order-mail', ['id: randomUUID()', "id: 'A-1'"], ["('lamp', 1)", "('lamp', 2)"])
    expect(part(twice, 'The worker sends')).toBe(
      '  mail to ada@example.com: Your order A-1\n  orders: 1; messages: sent',
    )
    expect(part(twice, 'The second order of the last lamp', 'The worker sends')).toContain('UNIQUE constraint failed')
  })
})

describe('the weekly digest', () => {
  it('A week of comments is one mail by day, and a click ends it', async () => {
    const all = await run('weekly-digest')
    expect(all.code).toBe(0)
    expect([...comparable(all.output), '']).toEqual(shown('weekly-digest'))
    expect(all.output.split('\n').filter((line) => line.startsWith('  mail to'))).toEqual([
      '  mail to ada@example.com: New comments this week: 2',
      '  mail to bob@example.com: New comments this week: 1',
    ])
    const ada = part(all, '2027-01-11T07:00', '2027-01-14T13:00')
    expect(ada).toContain('the page behind the link: Do you want to stop receiving “Weekly digest”?')
    expect(ada).toContain('the button of the mail program: 200\n  Eve comments for ada: skipped, suppressed')
    expect(part(all, '2027-01-14T13:00', '2027-01-18T07:00')).toContain('mail to bob@example.com')
    expect(part(all, '2027-01-18T07:00')).toBe("  Ada's comments: suppressed, suppressed, sent, sent")
  })

  it('Without the policy, the mail comes at the end of the week', async () => {
    const all = await runChanged('weekly-digest', [
      "  policy: quietHours({ from: '20:00', to: '08:00', timeZone: 'UTC' }),\n",
      '',
    ])
    expect(part(all, '2027-01-11T06:30', '2027-01-11T07:00')).toContain('mail to ada@example.com')
  })

  it('Without a category, the page names the event, and without a time zone, that of the policy holds', async () => {
    const all = await runChanged(
      'weekly-digest',
      ["    category: 'digest',\n", ''],
      [", timeZone: 'America/New_York'", ''],
    )
    expect(all.output).toContain('Do you want to stop receiving “comment.added”?')
    expect(all.output).toContain('Dan comments for bob: queued, digest until 2027-01-14T12:00')
  })

  it('Without the plugin, the mail has no link and no header', async () => {
    const all = await runChanged('weekly-digest', [
      "consent({ keys, page: { name: 'The Forum', categories: { digest: 'Weekly digest' } } }),",
      '',
    ])
    expect(all.output).toContain('| No more of these: undefined')
    expect(all.output).toContain('Failed to parse URL')
  })
})

describe('the agent with an approval', () => {
  it('The agent refunds once what a person accepts, and no run begins over the hard limit', async () => {
    const all = await run('agent-approval')
    expect(all.code).toBe(0)
    // Mails about the budget come in any order with the rest.
    expect(all.output.split('\n').sort()).toEqual(
      shown('agent-approval')
        .filter((line) => line !== '')
        .sort(),
    )
    expect(all.output.split('\n').slice(-2)).toEqual([
      'runs: {"completed":3}, cost: 0.2175 USD',
      'refunds: A-1001 900 USD, A-1003 20 USD',
    ])
    expect(part(all, 'Order A-1004')).toContain('no run: the budget is spent')
  })

  it.each([
    [
      'another action than the approved one',
      'action, useId',
      'action: { ...action, args: {} }, useId',
      'approval_conflict',
    ],
    [
      'an event that the token does not grant',
      "eventType: 'refund.approval'",
      "eventType: 'budget.exceeded'",
      'insufficient_scope',
    ],
    ['the approval of another run', "'A-1003'", "'A-1001'", 'approval_conflict'],
  ])('The agent is refused: %s', async (_, from, to, code) => {
    const all = await runChanged('agent-approval', [from, to])
    expect(all.code).toBe(1)
    expect(all.output).toContain(`code: '${code}'`)
    expect(all.output).not.toContain('refunds:')
  })

  it('Without `await`, the recorder cancels the runs', async () => {
    const all = await runChanged('agent-approval', ['return await recorder', 'return recorder'])
    expect(all.output).toContain('runs: {"cancelled":3}')
  })
})

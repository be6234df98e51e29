import assert from 'node:assert/strict'
import { type Task, task } from '../task.ts'

type Write = (fields: Readonly<Record<string, unknown>>, message: string) => void

interface Solution {
  open(options: {
    logger: { readonly info: Write; readonly warn: Write; readonly error: Write }
    track: (error: unknown) => void
    greeting: (name: string) => string
    print: (text: string) => void
  }): {
    greet(name: string): Promise<void>
    deliver(): Promise<void>
  }
}

export const logsAndErrors: Task = task<Solution>(
  'logs-and-errors',
  `
\`\`\`ts
type Write = (fields: Record<string, unknown>, message: string) => void

export function open(options: {
  logger: { info: Write; warn: Write; error: Write }
  track: (error: unknown) => void
  greeting: (name: string) => string
  print: (text: string) => void
}): {
  greet(name: string): Promise<void>
  deliver(): Promise<void>
}
\`\`\`

\`greet\` dispatches an event with the data \`{ name: string }\` to \`user_42\`. The text of its message is \`greeting(name)\`, and the
package's log channel writes it by \`print\`.
All log lines of sallyport go to \`logger\`, which is called as pino is, and none to the console.
\`greeting\` may throw for some names. Then no message goes out, \`greet\` still resolves, and \`track\` gets the very error that was
thrown.
`,
  async ({ open }, { atEnd }) => {
    const lines: string[] = []
    const tracked: unknown[] = []
    const printed: string[] = []
    const write: Write = (_, message) => void lines.push(message)
    const error = new Error('no greeting')
    const greeting = (name: string) => {
      if (name === 'Eve') throw error
      return `Hello ${name}`
    }
    const console = { log: globalThis.console.log, warn: globalThis.console.warn, error: globalThis.console.error }
    atEnd(() => Object.assign(globalThis.console, console))
    const noise: unknown[] = []
    for (const name of Object.keys(console))
      Object.assign(globalThis.console, { [name]: (text: unknown) => noise.push(text) })
    const { greet, deliver } = open({
      logger: { info: write, warn: write, error: write },
      track: (one) => tracked.push(one),
      greeting,
      print: (text) => printed.push(text),
    })
    await greet('Ada')
    await greet('Eve')
    await deliver()
    assert.equal(printed.length, 1)
    assert.ok(printed[0]?.includes('Hello Ada'))
    assert.ok(tracked.includes(error), 'the tracker has the error')
    assert.ok(lines.includes('event.failed'), `the logger has the failure: ${lines}`)
    assert.deepEqual(noise, [])
  },
)

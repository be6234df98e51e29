import { Agent, type IncomingMessage, request } from 'node:http'

/** What callers ask for, over and over. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What became of requests. */
export interface Answered {
  /** In full, by their status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Those that got no answer, or a part of one. */
  readonly losses: readonly string[]
}

/**
 * Callers that ask again as soon as they were answered, each on a connection that it keeps. One that is asked to close it does
 * not come again: a load balancer sends it to another process.
 */
export interface BusyCallers {
  /** Resolves when each has been answered so often. */
  answered(times: number): Promise<void>
  /** Resolves when all have been asked to close their connections, or have lost them. */
  readonly gone: Promise<Answered>
}

export function busyCallers(port: number, count: number, calls: readonly Call[]): BusyCallers {
  const answers = Array<number>(count).fill(0)
  const statuses: Record<number, number> = {}
  const losses: string[] = []
  const waiting = new Set<() => void>()

  async function callOver(caller: number, call: Call): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (;;) {
      const answer = await answerTo(port, agent, call)
      if (typeof answer === 'string') losses.push(`${call.path}: ${answer}`)
      else statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      answers[caller] = (answers[caller] ?? 0) + 1
      for (const look of [...waiting]) look()
      if (typeof answer === 'string' || answer.isLast) break
    }
    agent.destroy()
  }

  const gone = Promise.all(answers.map((_, caller) => callOver(caller, calls[caller % calls.length] as Call)))
  return {
    answered: (times) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (answers.some((had) => had < times)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
      }),
    gone: gone.then(() => ({ statuses, losses })),
  }
}

interface Answer {
  readonly status: number
  readonly isLast: boolean
}

/** Gives what was answered in full, or what went wrong. */
function answerTo(
  port: number,
  agent: Agent,
  { method, path, headers = {}, body = '' }: Call,
): Promise<Answer | string> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, agent, method, path, headers })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.on('response', (response: IncomingMessage) => {
      response.resume()
      response.on('error', (error) => resolve(`a part of an answer: ${error.message}`))
      response.on('end', () => {
        const { statusCode: status = 0, complete } = response
        resolve(complete ? { status, isLast: response.headers.connection === 'close' } : 'a part of an answer')
      })
    })
    sent.end(body)
  })
}

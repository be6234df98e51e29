import { Agent, type IncomingMessage, request } from 'node:http'

/** A request that callers repeat. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Results of the requests. */
export interface Answered {
  /** Number of complete answers by status. */
  readonly statuses: Readonly<Record<number, number>>
  /** Requests with no answer, or an incomplete one. */
  readonly losses: readonly string[]
}

/**
 * Callers that repeat their request after each answer, each on one kept-alive connection. A caller stops when the
 * server closes its connection, as a load balancer would use another process.
 */
export interface BusyCallers {
  /** Resolves when each caller has had this many answers. */
  answered(times: number): Promise<void>
  /** Resolves when the connections of all callers are closed or lost. */
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

/** Resolves to the complete answer, or to a description of the failure. */
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

import { type NodeHandler, toNode } from '../../../src/adapters/node.ts'
import type { AuthVerifier } from '../../../src/auth/index.ts'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { RUN } from '../../adapters/matrix/paths.ts'
import { recordingLogger } from '../../support/deps.ts'
import { type FakeClock, fakeClock } from '../../support/fake-clock.ts'
import { call } from '../../support/host-call.ts'
import { listen, type RunningHost } from '../../support/hosts/host.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { NOW } from './callers.ts'

const events = defineEvents({ 'order.shipped': { channels: { email: { subject: () => 'On its way' } } } })

/** A client that posts without pause, two posts at a time. */
interface Client {
  readonly name: string
  token: string
}

interface Answer {
  readonly client: string
  readonly answer: string
  /** The turn in which the request began. */
  readonly turn: number
}

/** Answers to each client in a turn. */
const ENOUGH = 12
const AT_ONCE = 2

/** Several hosts over one store and one clock, with clients that post all the time. */
export class Fleet {
  readonly clock: FakeClock = fakeClock(NOW * 1_000)
  readonly #store = memoryStore({ clock: this.clock })
  readonly #handlers: NodeHandler[] = []
  readonly #hosts: RunningHost[] = []
  readonly #clients: Client[] = []
  readonly #loops: Promise<void>[] = []
  readonly #answers: Answer[] = []
  #turn = 0
  #onAnswer: () => void = () => {}
  #stopped = false

  /** Starts hosts with the same verifier. */
  static async of(hosts: number, auth: AuthVerifier): Promise<Fleet> {
    const fleet = new Fleet()
    for (let index = 0; index < hosts; index++) {
      fleet.#put(index, auth)
      fleet.#hosts.push(await listen((req, res) => fleet.#handlers[index]?.(req, res)))
    }
    return fleet
  }

  /** Starts a client with a token, which may be replaced at any time. */
  client(name: string, token: string): Client {
    const client = { name, token }
    this.#clients.push(client)
    for (let index = 0; index < AT_ONCE; index++) this.#loops.push(this.#post(client, index))
    return client
  }

  /** Puts a new verifier on one host after another, like a rolling deploy, under load. */
  async deploy(auth: AuthVerifier): Promise<void> {
    for (const index of this.#hosts.keys()) await this.deployOn(index, auth)
  }

  async deployOn(index: number, auth: AuthVerifier): Promise<void> {
    this.#put(index, auth)
    await this.runTurn()
  }

  /**
   * Waits until every client got enough answers, and returns each client's distinct answers to requests of this turn.
   */
  async runTurn(): Promise<Readonly<Record<string, readonly string[]>>> {
    this.#turn++
    await this.#until(() => this.#clients.every(({ name }) => this.#answersTo(name).length >= ENOUGH))
    return Object.fromEntries(this.#clients.map(({ name }) => [name, [...new Set(this.#answersTo(name))].sort()]))
  }

  /** Total number of such answers to a client. */
  count(client: string, answer: string): number {
    return this.#answers.filter((each) => each.client === client && each.answer === answer).length
  }

  async close(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#loops)
    for (const host of this.#hosts) await host.close()
  }

  #put(index: number, auth: AuthVerifier): void {
    const sallyport = createSallyport({
      auth,
      events,
      store: this.#store,
      channels: { email: recordingChannel() },
      clock: this.clock,
      logger: recordingLogger(),
    })
    this.#handlers[index] = toNode(sallyport)
  }

  async #post(client: Client, loop: number): Promise<void> {
    const body = JSON.stringify({ sessionId: 's1', run: { runId: `${client.name}-${loop}` } })
    for (let round = loop; !this.#stopped; round++) {
      const host = this.#hosts[round % this.#hosts.length]
      const turn = this.#turn
      const { status, json } = await call(`${host?.url}${RUN}`, {
        headers: { authorization: `Bearer ${client.token}` },
        body,
      })
      this.#answers.push({ client: client.name, answer: status < 300 ? 'accepted' : `${status} ${json?.code}`, turn })
      this.#onAnswer()
    }
  }

  #answersTo(client: string): readonly string[] {
    return this.#answers.flatMap((each) => (each.client === client && each.turn === this.#turn ? [each.answer] : []))
  }

  #until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      this.#onAnswer = () => {
        if (isTrue()) resolve()
      }
      this.#onAnswer()
    })
  }
}

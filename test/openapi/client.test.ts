import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { toNode } from '../../src/adapters/node.ts'
import { openapiDocument } from '../../src/openapi/index.ts'
import { documentedProgram, GeneratedClient } from './generated-client.ts'
import { events, exampleHost } from './host.ts'

const program = documentedProgram()

/** Mistakes in the program that the types must find. */
const MISTAKES: readonly { readonly right: string; readonly wrong: string }[] = [
  { right: "recipient: 'user_42'", wrong: "recipients: 'user_42'" },
  { right: "status: 'completed'", wrong: "status: 'done'" },
  { right: "'/api/agents/session/run'", wrong: "'/api/agents/session/runs'" },
  { right: "'Idempotency-Key'", wrong: "'Idempotence-Key'" },
  { right: "=== 'event_unknown'", wrong: "=== 'session_not_found'" },
]

describe('a client generated from the document', () => {
  let client: GeneratedClient
  let host: Server
  beforeAll(async () => {
    client = await GeneratedClient.of(openapiDocument())
    host = createServer(toNode(exampleHost().sallyport)).listen(0, '127.0.0.1')
    await once(host, 'listening')
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.restoreAllMocks()
  })
  afterAll(async () => {
    client.remove()
    host.closeAllConnections()
    host.close()
    await once(host, 'close')
  })

  it('The generated client dispatches, records a run and reads problems', async () => {
    const printed: unknown[][] = []
    vi.spyOn(console, 'log').mockImplementation((...words) => void printed.push(words))
    const { port } = host.address() as AddressInfo
    vi.stubEnv('SALLYPORT_URL', `http://127.0.0.1:${port}`)
    vi.stubEnv('APP_SECRET', 'app')
    await client.run(program)
    expect(printed).toEqual([
      ['email', 'queued', 'no reason needed'],
      ['sms', 'skipped', 'condition_false'],
      ['completed', 310],
      [422, 'No event has this name. Near: order.shipped.'],
    ])
  })

  it('The generated client compiles under strict settings, and finds each mistake', () => {
    const wrong = MISTAKES.map(({ right, wrong }) => program.replace(right, wrong))
    expect(wrong).not.toContain(program)
    const [faults, ...mistakes] = client.faults([program, ...wrong])
    expect(faults).toEqual([])
    expect(MISTAKES.filter((_, index) => mistakes[index]?.length === 0)).toEqual([])
  })
})

describe('a client generated for a catalogue', () => {
  it('A client generated for a catalogue knows its events', async () => {
    const client = await GeneratedClient.of(openapiDocument({ events }))
    const known = program.replace("eventType: 'order.shiped'", "eventType: 'shop.closed'")
    try {
      const [faults, misspelt = []] = client.faults([known, program])
      expect(faults).toEqual([])
      expect(misspelt.join()).toContain('order.shiped')
    } finally {
      client.remove()
    }
  })
})

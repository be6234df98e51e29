import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { langchainCallbacks } from 'sallyport/integrations'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { onlyRun } from './agents.ts'
import { HELLO, modelOf } from './graphs.ts'
import { chat, chatEvents, OPENAI_COUNTS } from './openai-api.ts'
import { type Answer, streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const recording = () => ({ callbacks: [langchainCallbacks(app.recorder)], configurable: { thread_id: 's1' } })

/** Time limit of a node, which passes only as a model hangs. */
const LIMIT_MS = 3_600_000
let limits: (() => void)[] = []

beforeEach(() => {
  limits = []
  const { setTimeout } = globalThis
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(((...call: Parameters<typeof setTimeout>) => {
    if (call[1] === LIMIT_MS) limits.push(() => call[0](undefined))
    return setTimeout(...call)
  }) as typeof setTimeout)
})
afterEach(() => void vi.restoreAllMocks())

/** A model that begins to answer until the time limit of its node passes. */
const hanging = (): Answer => async (response) => {
  await streamed(chatEvents('Hi.').slice(0, 3), 'hang')(response)
  limits.at(-1)?.()
}
const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false }

/** A graph whose node asks the model, with the options of a node. */
const graphOf = (options: object) =>
  new StateGraph(MessagesAnnotation)
    .addNode('ask', async ({ messages }, config) => ({ messages: await modelOf(provider).invoke(messages, config) }), {
      timeout: LIMIT_MS,
      ...options,
    })
    .addEdge(START, 'ask')
    .compile()

describe('a node that times out', () => {
  it('A graph whose node is tried again after a time-out is completed, with the counts of the second try', async () => {
    provider.answers(hanging(), whole(chat('Hi.')))
    await graphOf({ retryPolicy }).invoke(HELLO, recording())
    expect(await onlyRun(app)).toMatchObject({ status: 'completed', counts: OPENAI_COUNTS })
  })

  it('A graph whose node handles its time-out is completed', async () => {
    provider.answers(hanging())
    await graphOf({ errorHandler: () => ({ messages: 'Later.' }) }).invoke(HELLO, recording())
    expect(await onlyRun(app)).toMatchObject({ status: 'completed' })
  })

  it('A graph whose node times out is failed', async () => {
    provider.answers(hanging())
    await expect(graphOf({}).invoke(HELLO, recording())).rejects.toThrow('timeout')
    expect(await onlyRun(app)).toMatchObject({ status: 'failed', error: { type: 'NodeTimeoutError' } })
  })
})

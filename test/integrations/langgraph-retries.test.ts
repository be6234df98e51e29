import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { langchainCallbacks } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { onlyRun } from './agents.ts'
import { HELLO, modelOf } from './graphs.ts'
import { chat, chatEvents, OPENAI_COUNTS } from './openai-api.ts'
import { streamed, whole } from './provider.ts'
import { app, provider, setUpEach } from './set-up.ts'

setUpEach()

const recording = () => ({ callbacks: [langchainCallbacks(app.recorder)], configurable: { thread_id: 's1' } })
const hanging = () => streamed(chatEvents('Hi.').slice(0, 3), 'hang')
const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false }

/** A graph whose node asks the model, with the options of a node. */
const graphOf = (options: object) =>
  new StateGraph(MessagesAnnotation)
    .addNode('ask', async ({ messages }, config) => ({ messages: await modelOf(provider).invoke(messages, config) }), {
      timeout: 200,
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

import { type AgentsSpan, agentsSdk } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { onlyRun } from './agents.ts'
import { app, setUpEach } from './set-up.ts'

setUpEach()

/** A span of the SDK, whose kind is the prefix of its id. */
const spanOf = (spanId: string, more: Partial<AgentsSpan> & { readonly name?: string } = {}): AgentsSpan => {
  const { name, ...rest } = more
  const [type = ''] = spanId.split('_', 1)
  const spanData = { type, ...(name !== undefined && { name }) }
  return { spanId, parentId: type === 'task' ? null : 'task_1', traceId: 't1', spanData, error: null, ...rest }
}

describe('memory of the processor', () => {
  it('agentsSdk() remembers at most a thousand traces that never ended', async () => {
    const processor = agentsSdk(app.recorder)
    for (let number = 0; number <= 1000; number++)
      await processor.onTraceStart({ traceId: `t${number}`, name: 'Flow', groupId: `g${number}` })
    for (const number of [0, 1]) {
      const span = spanOf(`task_${number}`, { traceId: `t${number}` })
      await processor.onSpanStart(span)
      await processor.onSpanEnd(span)
    }
    expect(await app.runs()).toMatchObject([
      { runId: 'task_0', sessionId: 't0' },
      { runId: 'task_1', sessionId: 'g1' },
    ])
  })

  it('agentsSdk() forgets the spans of a task that has ended', async () => {
    const processor = agentsSdk(app.recorder)
    await processor.onSpanStart(spanOf('task_1'))
    await processor.onSpanStart(spanOf('turn_1'))
    await processor.onSpanEnd(spanOf('task_1'))
    await processor.onSpanStart(spanOf('task_2', { parentId: 'turn_1' }))
    await processor.onSpanEnd(spanOf('task_2'))
    const runs = await app.runs()
    expect(runs.map(({ runId }) => runId)).toEqual(['task_1', 'task_2'])
    expect(runs[1]).not.toHaveProperty('parentRunId')
  })
})

it('agentsSdk() resolves for invalid run data and for errors of any shape', async () => {
  const circular: Record<string, unknown> = {}
  circular.self = circular
  const odd = agentsSdk(app.recorder, () => ({ sessionId: 's1', metadata: circular }) as never)
  await expect(odd.onSpanStart(spanOf('task_1'))).resolves.toBeUndefined()
  const processor = agentsSdk(app.recorder)
  await processor.onSpanStart(spanOf('task_2'))
  const error = { message: 'It is down', data: { error: Object.create(null) } }
  await expect(processor.onSpanEnd(spanOf('task_2', { error }))).resolves.toBeUndefined()
  expect((await app.runs()).at(-1)).toMatchObject({ status: 'failed', error: { message: 'It is down' } })
})

describe('a call that fails', () => {
  const ended = async (text: string) => {
    const processor = agentsSdk(app.recorder)
    const error = { message: 'Error in agent run', data: { error: text } }
    for (const span of [spanOf('task_1'), spanOf('generation_1')]) await processor.onSpanStart(span)
    for (const span of [spanOf('generation_1', { error }), spanOf('task_1', { error })]) await processor.onSpanEnd(span)
    return onlyRun(app)
  }

  it.each(['InternalServerError: 500 transaction aborted', 'Error: abort code 7', '409 Request was aborted'])(
    'A model error that only mentions an abort fails the run: %s',
    async (text) => expect(await ended(text)).toMatchObject({ status: 'failed', counts: { modelErrors: 1 } }),
  )

  it.each(['AbortError: This operation was aborted', 'Error: Request was aborted.', 'APIUserAbortError'])(
    'An abort error of the SDK cancels the run: %s',
    async (text) => {
      const run = await ended(text)
      expect(run?.status).toBe('cancelled')
      expect(run).not.toHaveProperty('counts')
    },
  )
})

it('A cut agent name contains no lone surrogate', async () => {
  const processor = agentsSdk(app.recorder)
  await processor.onSpanStart(spanOf('task_1'))
  await processor.onSpanStart(spanOf('agent_1', { name: `${'x'.repeat(127)}👋` }))
  await processor.onSpanEnd(spanOf('task_1'))
  expect((await onlyRun(app))?.agent?.name).toBe(`${'x'.repeat(127)}\uFFFD`)
})

import { type AgentsSpan, agentsSdk } from 'sallyport/integrations'
import { describe, expect, it } from 'vitest'
import { onlyRun } from './agents.ts'
import { app } from './set-up.ts'

/** A span as the SDK tells of it; its kind is what its id begins with. */
const spanOf = (spanId: string, more: Partial<AgentsSpan> & { readonly name?: string } = {}): AgentsSpan => {
  const { name, ...rest } = more
  const [type = ''] = spanId.split('_', 1)
  const spanData = { type, ...(name !== undefined && { name }) }
  return { spanId, parentId: type === 'task' ? null : 'task_1', traceId: 't1', spanData, error: null, ...rest }
}

describe('what is remembered', () => {
  it('is no more than a thousand traces that were never ended', async () => {
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

  it('is no span of a task that has ended', async () => {
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

it('rejects nothing, whatever the host says of a run and the SDK of an error', async () => {
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
    'is no abort because its error speaks of one: %s',
    async (text) => expect(await ended(text)).toMatchObject({ status: 'failed', counts: { modelErrors: 1 } }),
  )

  it.each(['AbortError: This operation was aborted', 'Error: Request was aborted.', 'APIUserAbortError'])(
    'is one where its error is: %s',
    async (text) => {
      const run = await ended(text)
      expect(run?.status).toBe('cancelled')
      expect(run).not.toHaveProperty('counts')
    },
  )
})

it('does not cut the name of an agent within a letter', async () => {
  const processor = agentsSdk(app.recorder)
  await processor.onSpanStart(spanOf('task_1'))
  await processor.onSpanStart(spanOf('agent_1', { name: `${'x'.repeat(127)}👋` }))
  await processor.onSpanEnd(spanOf('task_1'))
  expect((await onlyRun(app))?.agent?.name).toBe(`${'x'.repeat(127)}\uFFFD`)
})

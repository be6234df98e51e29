import assert from 'node:assert/strict'
import { createSallyport } from 'sallyport'
import { appSecrets } from 'sallyport/auth'
import { toNode } from 'sallyport/node'
import { memoryStore } from 'sallyport/storage/memory'
import { type Task, task } from '../task.ts'

interface Solution {
  record(options: {
    baseUrl: string
    secret: string
    sessionId: string
    runId: string
    model: string
    usage: object
  }): Promise<void>
}

export const recordRun: Task = task<Solution>(
  'record-run',
  `
\`\`\`ts
export function record(options: {
  baseUrl: string
  secret: string
  sessionId: string
  runId: string
  model: string
  usage: object
}): Promise<void>
\`\`\`

An agent runs in another process than the server with sallyport, whose address is \`baseUrl\`. \`secret\` is its bearer token.
\`record\` tells the server by HTTP that the run \`runId\` of the session \`sessionId\` is completed, and which model it used.
\`usage\` is the object that the model's provider returned, for example that of OpenAI or of Anthropic. The server reads the tokens from
it, so \`record\` passes it on as it is.
The promise rejects if the server refuses the run. A call that is repeated changes nothing.
`,
  async ({ record }, { serve, secret }) => {
    const token = await secret()
    const sallyport = createSallyport({ auth: appSecrets([token]), store: memoryStore() })
    const host = { baseUrl: await serve(toNode(sallyport)), secret: token, sessionId: 's1' }
    const openai = { prompt_tokens: 310, completion_tokens: 20, total_tokens: 330 }
    for (let n = 0; n < 2; n++) await record({ ...host, runId: 'r1', model: 'gpt-5', usage: openai })
    const anthropic = {
      input_tokens: 100,
      cache_read_input_tokens: 50,
      cache_creation_input_tokens: 0,
      output_tokens: 7,
    }
    await record({ ...host, runId: 'r2', model: 'claude', usage: anthropic })
    const run = async (runId: string) => {
      const found = await sallyport.runs.get({ sessionId: 's1', runId })
      return [found?.status, found?.model, found?.counts?.inputTokens, found?.counts?.outputTokens]
    }
    assert.deepEqual(await run('r1'), ['completed', 'gpt-5', 310, 20])
    assert.deepEqual(await run('r2'), ['completed', 'claude', 150, 7])
    await assert.rejects(record({ ...host, secret: 'wrong', runId: 'r3', model: 'gpt-5', usage: openai }))
  },
)

import { Agent, OpenAIProvider, Runner, type Tool, tool } from '@openai/agents'
import OpenAI from 'openai'
import type { Run } from 'sallyport'
import { expect } from 'vitest'
import * as z from 'zod'
import type { Provider } from './provider.ts'
import type { TestApp } from './test-app.ts'

export const parameters: z.ZodObject<Record<never, never>> = z.object({})
const weather: Tool = tool({ name: 'weather', description: 'Weather', parameters, execute: async () => 'sunny' })
const broken: Tool = tool({
  name: 'broken',
  description: 'Does not work',
  parameters,
  execute: async () => {
    throw new Error('down')
  },
})

/** An agent with one tool that works and one that fails. */
export const agent: Agent = new Agent({ name: 'Forecaster', model: 'gpt-5', tools: [weather, broken] })

/** A runner that uses the models of the provider. */
export function runnerOf(
  { url }: Provider,
  config: Omit<NonNullable<ConstructorParameters<typeof Runner>[0]>, 'groupId'> & {
    readonly groupId?: string | null
    readonly useResponses?: boolean
  } = {},
): Runner {
  const openAIClient = new OpenAI({ apiKey: 'key', baseURL: `${url}/v1`, maxRetries: 0 })
  const { useResponses = true, groupId = 's1', ...rest } = config
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses })
  return new Runner({ modelProvider, ...(groupId && { groupId }), ...rest })
}

/** The only run of the host. */
export async function onlyRun(app: TestApp): Promise<Run | undefined> {
  const runs = await app.runs()
  expect(runs).toHaveLength(1)
  return runs[0]
}

import { createSallyport, handleSessionRun } from 'sallyport'
import { alerts } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock, testRequest } from 'sallyport/testing'

export function open({ now }: { readonly now: () => number }): {
  record(runId: string, userId: string, tokens: number): Promise<void>
  mayRun(userId: string): Promise<boolean>
} {
  const clock = { ...fakeClock(), now }
  const ports = {
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    clock,
    store: memoryStore({ clock }),
  }
  const { budgets } = createSallyport({
    ...ports,
    plugins: [alerts({ budgets: [{ name: 'daily', per: 'user', days: 1, hard: { tokens: 10_000 } }] })],
  })
  return {
    async record(runId, userId, inputTokens) {
      const run = { runId, userId, status: 'completed', counts: { inputTokens } }
      const answer = await handleSessionRun(testRequest({ token: 'any', body: { sessionId: userId, run } }), ports)
      if (!answer.ok) throw new Error(answer.body.detail)
    },
    mayRun: async (userId) => (await budgets.check({ userId })).allowed,
  }
}

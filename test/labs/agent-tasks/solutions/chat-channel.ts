import { type Channel, createSallyport, defineEvents } from 'sallyport'
import { memoryStore } from 'sallyport/storage/memory'
import { fakeClock } from 'sallyport/testing'
import * as v from 'valibot'

const events = defineEvents({
  said: { data: v.object({ text: v.string() }), channels: { chat: { text: ({ data }) => data.text } } },
})

function chat(url: string): Channel {
  return {
    address: () => 'room',
    async send({ content }, { signal }) {
      const request = {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: content.text }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(500)]),
      }
      try {
        const { ok, status } = await fetch(url, request)
        if (ok) return { outcome: 'sent' }
        return { outcome: status === 429 || status >= 500 ? 'retry' : 'rejected', code: `http_${status}` }
      } catch {
        return { outcome: 'unknown', code: 'no_answer' }
      }
    },
  }
}

interface Options {
  readonly chatUrl: string
  readonly now: () => number
}

export function open({ chatUrl, now }: Options): {
  post(text: string): Promise<string>
  deliver(): Promise<void>
  state(id: string): Promise<{ status: string; outcomes: string[] }>
} {
  const clock = { ...fakeClock(), now }
  const { dispatchOrThrow, dispatches, worker } = createSallyport({
    auth: { verify: async () => ({ id: 'app', tenant: 'default' }) },
    events,
    clock,
    store: memoryStore({ clock }),
    channels: { chat: chat(chatUrl) },
  })
  return {
    async post(text) {
      const answer = await dispatchOrThrow({ eventType: 'said', recipient: 'everybody', eventData: { text } })
      return answer.dispatchId
    },
    async deliver() {
      await worker.runDue()
    },
    async state(id) {
      const [delivery] = (await dispatches.get(id))?.deliveries ?? []
      return {
        status: `${delivery?.status}`,
        outcomes: (delivery?.attemptLog ?? []).map(({ outcome }) => `${outcome}`),
      }
    },
  }
}

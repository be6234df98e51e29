import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import { equal, ok } from './assertions.ts'
import { type Listener, listen, otherOf, type QueueCase, type QueueTrial, queueCases } from './queue-trial.ts'

/** Sends a notice, and waits until it arrives. */
async function notices(t: QueueTrial, topic: string, listener: Listener): Promise<void> {
  const before = countOf(listener, topic)
  notify(t.queue, topic)
  await t.until(() => countOf(listener, topic) > before)
}

function countOf({ topics }: Listener, topic: string): number {
  return topics.filter((each) => each === topic).length
}

function notify(queue: DeliveryQueue, topic: string): void {
  ok(queue.notify, '`create` returned a queue without `notify`: write it, or set `notices: false`')
  queue.notify(topic)
}

/** Cases of queues with `notify`. */
export const NOTICES: readonly QueueCase[] = [
  ...queueCases(['notices'], {
    'notify does nothing without a listener, and to a listener without `noticed`': async (t) => {
      notify(t.queue, 'a')
      let woken = 0
      const stop = t.queue.listen({ due: () => void woken++, connected() {}, lost() {} })
      await t.ready?.()
      notify(t.queue, 'a')
      t.queue.wake(0)
      await t.until(() => woken > 0)
      stop()
    },
    'notify does not throw after the queue is closed': async (t) => {
      const { stop } = await listen(t)
      stop()
      await t.close?.()
      notify(t.queue, 'a')
    },
  }),
  ...queueCases(['notices', 'disconnect'], {
    'notify does not throw while the queue is disconnected': async (t) => {
      const { stop } = await listen(t)
      await t.disconnect?.()
      for (let times = 0; times < 100; times++) notify(t.queue, `a${times % 3}`)
      stop()
    },
  }),
  ...queueCases(['notices', 'secondHandle'], {
    'notify through one handle calls `noticed` of all listeners of the other, with the topic': async (t) => {
      const there = [await listen(t, otherOf(t)), await listen(t, otherOf(t))]
      for (const topic of ['a', 'long_topic_of_32_characters_0123', '0', '_']) {
        notify(t.queue, topic)
        await t.until(() => there.every(({ topics }) => topics.at(-1) === topic))
      }
    },
    'each notice arrives, also after others of its topic': async (t) => {
      const there = await listen(t, otherOf(t))
      for (let times = 0; times < 3; times++) await notices(t, 'a', there)
      equal([...new Set(there.topics)], ['a'])
    },
    'notices of several topics do not replace one another': async (t) => {
      const there = await listen(t, otherOf(t))
      const topics = Array.from({ length: 20 }, (_, at) => `topic_${at}`)
      for (const topic of topics) notify(t.queue, topic)
      await t.until(() => topics.every((topic) => there.topics.includes(topic)))
    },
    'a thousand notices call `noticed` at least once': async (t) => {
      const there = await listen(t, otherOf(t))
      for (let times = 0; times < 1_000; times++) notify(t.queue, 'a')
      await t.until(() => there.topics.length > 0)
    },
    'a notice does not call `due`, and a wake does not call `noticed`': async (t) => {
      const [here, there] = [await listen(t), await listen(t, otherOf(t))]
      // The second one arrives after whatever else the first one causes.
      for (const topic of ['a', 'b']) await notices(t, topic, there)
      equal([here.calledAt, there.calledAt], [[], []])
      const noticed = there.topics.length
      for (let times = 0; times < 2; times++) {
        const calls = there.calledAt.length
        t.queue.wake(0)
        await t.until(() => there.calledAt.length > calls)
      }
      equal(there.topics.slice(noticed), [])
    },
    'a stopped listener gets no notices, and others do': async (t) => {
      const [stopped, there] = [await listen(t, otherOf(t)), await listen(t, otherOf(t))]
      stopped.stop()
      for (let times = 0; times < 2; times++) await notices(t, 'a', there)
      equal(stopped.topics, [])
    },
  }),
]

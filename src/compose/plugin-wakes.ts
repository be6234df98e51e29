import type { FaultDeps } from '../core/answers/report-fault.ts'
import { startListening } from '../core/delivery/listen-to-queue.ts'
import { callQueue } from '../core/wake.ts'
import { like } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'
import type { PluginCore } from '../plugins/plugin.ts'
import type { DeliveryQueue } from '../ports/delivery-queue.ts'
import { callPlugin } from './plugin-parts.ts'

type Wakes = Pick<PluginCore, 'wake' | 'onWake'>

const topicName = like(/^[a-z0-9_]{1,32}$/, 'must be 1-32 of a-z 0-9 _', shownName)

/**
 * Wakes of plugins: in this process at once, and in others by notices of the queue. All plugins of a host share the topics.
 *
 * @param queue Absent: wakes stay within this process.
 * @returns The wakes of one plugin.
 */
export function pluginWakes(queue: DeliveryQueue | undefined, deps: FaultDeps): (plugin: string) => Wakes {
  const topics = new Map<string, Set<() => void>>()
  /** Ends the listening to the queue. */
  let stop: (() => void) | undefined

  function callListeners(topic: string): void {
    const calls = topics.get(topic) ?? new Set()
    // Calls no listener that was added or removed during the loop.
    for (const call of [...calls]) if (calls.has(call)) call()
  }

  /** Notices may be missed. Within `listen` there is nothing to miss: the plugin reads after `onWake` has returned. */
  function callAll(): void {
    if (stop) for (const topic of [...topics.keys()]) callListeners(topic)
  }

  function listen(): void {
    // Without `notify`, no process sends notices.
    if (stop || !queue?.notify) return
    callQueue(() => {
      stop = startListening(queue, { due() {}, connected: callAll, lost: callAll, noticed: callListeners })
    }, deps)
  }

  function stopListening(): void {
    const end = stop
    stop = undefined
    if (end) callQueue(end, deps)
  }

  return (plugin) => ({
    wake(topic) {
      checkArguments('wake', [topic], topicName)
      callListeners(topic)
      callQueue(() => queue?.notify?.(topic), deps)
    },
    onWake(topic, listener) {
      checkArguments('onWake', [topic], topicName)
      const call = (): void => callPlugin(listener, plugin, 'onWake', deps)
      const calls = topics.get(topic) ?? new Set()
      topics.set(topic, calls.add(call))
      listen()
      return () => {
        if (!calls.delete(call)) return
        if (calls.size === 0) topics.delete(topic)
        if (topics.size === 0) stopListening()
      }
    },
  })
}

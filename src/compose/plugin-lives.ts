import type { FaultDeps } from '../core/answers/report-fault.ts'
import type { Worker } from '../core/delivery/worker.ts'
import { SallyportError } from '../errors.ts'
import { withTimeout } from '../model/time-out.ts'
import type { PluginLife } from '../plugins/plugin.ts'
import type { Clock } from '../ports/clock.ts'
import { type NamedParts, reportPlugin } from './plugin-parts.ts'

/** Time for a plugin after the grace of sends. */
const STOP_MS = 1_000

/** The steps of the plugins' lives, and those of a worker. */
export interface Lives {
  /** Stores what plugins have only in memory. Never rejects. */
  flush(): Promise<void>
  hasWork(): boolean
  /** Runs the steps with those of the worker. */
  around(worker: Worker): Worker
}

export function livesOf(parts: readonly NamedParts[], deps: FaultDeps & { readonly clock: Clock }): Lives {
  const lives = parts.flatMap(({ plugin, parts: { life } }) => (life ? [{ plugin, life }] : []))
  const { clock } = deps
  const lateIn = (hook: string) => (): never => {
    throw new SallyportError('no_answer', `${hook}() did not end within the grace and ${STOP_MS / 1_000} s`)
  }

  /** Calls a step of one plugin. Never rejects. */
  async function step(
    plugin: string,
    hook: keyof PluginLife,
    call: () => Promise<void> | undefined,
    limitMs = Number.POSITIVE_INFINITY,
  ): Promise<void> {
    try {
      const going = call()
      const hasLimit = limitMs !== Number.POSITIVE_INFINITY
      await (hasLimit && going ? withTimeout(going, { ms: limitMs, clock, fallback: lateIn(hook) }) : going)
    } catch (cause) {
      reportPlugin(cause, plugin, hook, deps)
    }
  }

  async function flush(limitMs?: number): Promise<void> {
    await Promise.all(lives.map(({ plugin, life }) => step(plugin, 'flush', () => life.flush?.(), limitMs)))
  }

  /** An error counts as work: a flush then reports what is wrong. */
  function hasWork({ plugin, life }: (typeof lives)[number]): boolean {
    try {
      return life.hasWork?.() === true
    } catch (cause) {
      reportPlugin(cause, plugin, 'hasWork', deps)
      return true
    }
  }

  return {
    flush: () => flush(),
    hasWork: () => lives.some(hasWork),
    around(worker) {
      if (lives.length === 0) return worker
      let starts = 0
      return {
        start() {
          worker.start()
          starts++
          for (const { plugin, life } of lives) {
            try {
              life.start?.()
            } catch (cause) {
              reportPlugin(cause, plugin, 'start', deps)
            }
          }
        },
        async stop(options = {}) {
          const [before, begun] = [starts, clock.now()]
          await worker.stop(options)
          const { graceMs = Number.POSITIVE_INFINITY } = options
          const limitMs = Math.max(0, graceMs - (clock.now() - begun)) + STOP_MS
          // It may have been started again meanwhile.
          const stopping =
            starts === before
              ? lives.toReversed().map(({ plugin, life }) => step(plugin, 'stop', () => life.stop?.(), limitMs))
              : []
          await Promise.all([...stopping, flush(limitMs)])
        },
        async runDue() {
          const running = worker.runDue()
          const delivered = running.then(
            () => {},
            () => {},
          )
          await Promise.all(lives.map(({ plugin, life }) => step(plugin, 'runDue', () => life.runDue?.(delivered))))
          return running
        },
      }
    },
  }
}
